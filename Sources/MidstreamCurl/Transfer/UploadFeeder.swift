#if Curl && os(Linux)
    import Glibc
    internal import Interception
    internal import MidstreamCore

    /// Reads a body in a task of its own and holds one chunk ahead of what the loop is sending.
    ///
    /// The task starts with curl's first wish for bytes: when no connection comes about, the body has not been touched.
    final class UploadFeeder: Sendable {
        enum Result {
            /// So many were copied; zero: the end.
            case bytes(Int)
            /// There are none now; the transfer is told when there are.
            case later
        }

        private struct State {
            var chunk: [UInt8] = []
            var sent = 0
            var next: [UInt8]?
            /// No further chunk will come.
            var isEnded = false
            var isStopped = false
            /// Curl has been told to wait.
            var isAwaited = false
            /// The task waits until `next` has been taken.
            var task: Task<Void, Never>?
            var waiter: UnsafeContinuation<Void, Never>?
        }

        /// What the body is to have; nil: not known.
        let length: Int64?
        private let body: HTTPBody
        private let state = Locked(State())

        private let executor: CallersExecutor

        /// - Parameter executor: Where the body is read.
        init(_ body: HTTPBody, length: Int64?, executor: CallersExecutor) {
            self.body = body
            self.length = length
            self.executor = executor
        }

        /// Whether all that there is has been handed to curl.
        var isDrained: Bool {
            state.withLock { $0.isEnded && $0.sent == $0.chunk.count && $0.next == nil }
        }

        /// Copies what there is into curl's buffer.
        func read(into buffer: UnsafeMutableRawBufferPointer, for transfer: Transfer) -> Result {
            let (result, waiter, mustStart) = state.withLock { state in
                var freed: UnsafeContinuation<Void, Never>?
                if state.sent == state.chunk.count, let next = state.next {
                    state.chunk = next
                    state.sent = 0
                    state.next = nil
                    swap(&freed, &state.waiter)
                }
                let count = min(state.chunk.count - state.sent, buffer.count)
                if count > 0 {
                    state.chunk.withUnsafeBytes { bytes in
                        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[state.sent..<(state.sent + count)]))
                    }
                    state.sent += count
                    return (Result.bytes(count), freed, false)
                }
                if state.isEnded { return (Result.bytes(0), freed, false) }
                state.isAwaited = true
                return (Result.later, freed, state.task == nil && !state.isStopped)
            }
            waiter?.resume()
            if mustStart { start(for: transfer) }
            return result
        }

        /// Ends the task; nothing more is sent.
        func stop() {
            let (task, waiter) = state.withLock { state in
                state.isStopped = true
                defer { state.waiter = nil }
                return (state.task, state.waiter)
            }
            task?.cancel()
            waiter?.resume()
        }

        private func start(for transfer: Transfer) {
            let task = executor.start { [self] in
                do {
                    try await feed(transfer)
                } catch {
                    transfer.loop.post(.fail(transfer, error))
                }
            }
            let isStopped = state.withLock { state in
                state.task = task
                return state.isStopped
            }
            if isStopped { task.cancel() }
        }

        private func feed(_ transfer: Transfer) async throws {
            var chunks = body.makeAsyncIterator()
            var total: Int64 = 0
            while let chunk = try await chunks.next() {
                total += Int64(chunk.count)
                if let length {
                    guard total <= length else { throw mismatch("longer", length, transfer) }
                    // The last byte is held back until it is known to be the last: otherwise the request would be complete
                    // before the fault is noticed.
                    if total == length, try await chunks.next() != nil { throw mismatch("longer", length, transfer) }
                }
                guard await put(chunk, for: transfer) else { return }
                if total == length { break }
            }
            if let length, total < length { throw mismatch("shorter", length, transfer) }
            let mustResume = state.withLock { state in
                state.isEnded = true
                defer { state.isAwaited = false }
                return state.isAwaited
            }
            if mustResume { transfer.loop.post(.resumeSending(transfer)) }
        }

        private func mismatch(_ how: String, _ length: Int64, _ transfer: Transfer) -> HTTPError {
            HTTPError(
                .bodyUnreadable, "The body is \(how) than the \(length) bytes that were announced.", request: transfer.request,
                phase: .maybeProcessed)
        }

        /// Hands over a chunk and waits for room for the one after it; false when no more is wanted.
        private func put(_ chunk: [UInt8], for transfer: Transfer) async -> Bool {
            let mustResume = state.withLock { state in
                if state.sent == state.chunk.count, state.next == nil {
                    state.chunk = chunk
                    state.sent = 0
                } else {
                    state.next = chunk
                }
                defer { state.isAwaited = false }
                return state.isAwaited
            }
            if mustResume { transfer.loop.post(.resumeSending(transfer)) }
            await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
                let hasRoom = state.withLock { state in
                    if state.next == nil || state.isStopped { return true }
                    state.waiter = waiter
                    return false
                }
                if hasRoom { waiter.resume() }
            }
            return state.withLock { !$0.isStopped }
        }
    }
#endif
