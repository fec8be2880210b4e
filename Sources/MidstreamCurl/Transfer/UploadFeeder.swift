#if Curl && os(Linux)
    import Glibc
    internal import Interception
    internal import MidstreamCore

    /// Reads a body in a task of its own, ahead of what the loop is sending, so that several chunks are handed over for each wake-up.
    ///
    /// The task starts with curl's first wish for bytes: when no connection comes about, the body has not been touched.
    final class UploadFeeder: Sendable {
        enum Result {
            /// So many were copied; zero: the end.
            case bytes(Int)
            /// There are none now; the transfer is resumed when there are.
            case later
        }

        private struct State {
            /// What has been read and the loop hasn't taken yet.
            var chunks: [[UInt8]] = []
            var size = 0
            /// No further chunk will come.
            var isEnded = false
            var isStopped = false
            /// Curl has been told to wait.
            var isAwaited = false
            var task: Task<Void, Never>?
            /// The task waits until the loop has taken the chunks.
            var waiter: Suspension<Void>?
        }

        /// What the loop has taken and not sent yet.
        private struct Sending {
            var chunks: [[UInt8]] = []
            /// Those before it are sent, and so many bytes of itself.
            var first = 0
            var sent = 0

            mutating func copy(into buffer: UnsafeMutableRawBufferPointer) -> Int {
                var count = 0
                while count < buffer.count, first < chunks.count {
                    let piece = min(chunks[first].count - sent, buffer.count - count)
                    chunks[first].withUnsafeBytes { bytes in
                        UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[sent..<(sent + piece)]))
                    }
                    count += piece
                    sent += piece
                    if sent == chunks[first].count {
                        chunks[first] = []
                        first += 1
                        sent = 0
                    }
                }
                return count
            }
        }

        /// How much is read ahead: 384 KiB, and no further chunk beyond it. The loop may have as much again, so that with chunks of 64 KiB it
        /// is less than a mebibyte in all.
        private static let limit = 384 << 10

        /// What the body is to have; nil: not known.
        let length: Int64?
        private let body: HTTPBody
        private let state = Locked(State())
        /// Taken before ``state``, and by the loop alone, so that copying holds up nobody.
        private let sending = Locked(Sending())
        private let executor: CallersExecutor

        /// - Parameter executor: Where the body is read.
        init(_ body: HTTPBody, length: Int64?, executor: CallersExecutor) {
            self.body = body
            self.length = length
            self.executor = executor
        }

        /// Whether all that there is has been handed to curl.
        var isDrained: Bool {
            sending.withLock { sending in
                sending.first == sending.chunks.count && state.withLock { $0.isEnded && $0.chunks.isEmpty }
            }
        }

        /// Copies what there is into curl's buffer.
        func read(into buffer: UnsafeMutableRawBufferPointer, for transfer: Transfer) -> Result {
            sending.withLock { sending in
                var count = sending.copy(into: buffer)
                while count < buffer.count {
                    guard take(&sending, orBeTold: count == 0, transfer) else {
                        return count > 0 || isEnded ? .bytes(count) : .later
                    }
                    count += sending.copy(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                }
                return .bytes(count)
            }
        }

        private var isEnded: Bool { state.withLock { $0.isEnded && $0.chunks.isEmpty } }

        /// Takes all chunks that are ready. False when there is none.
        ///
        /// - Parameter isWaiting: Whether the loop is to be told when there is one.
        private func take(_ sending: inout Sending, orBeTold isWaiting: Bool, _ transfer: Transfer) -> Bool {
            sending.chunks.removeAll(keepingCapacity: true)
            (sending.first, sending.sent) = (0, 0)
            let (waiter, mustStart) = state.withLock { state -> (Suspension<Void>?, Bool) in
                if !state.chunks.isEmpty {
                    swap(&sending.chunks, &state.chunks)
                    state.size = 0
                    defer { state.waiter = nil }
                    return (state.waiter, false)
                }
                if isWaiting, !state.isEnded { state.isAwaited = true }
                return (nil, state.task == nil && !state.isStopped && !state.isEnded)
            }
            waiter?.resume()
            if mustStart { start(for: transfer) }
            return !sending.chunks.isEmpty
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
            let (mustResume, waiter) = state.withLock { state in
                state.chunks.append(chunk)
                state.size += chunk.count
                if state.size >= Self.limit, !state.isStopped { state.waiter = Suspension() }
                defer { state.isAwaited = false }
                return (state.isAwaited, state.waiter)
            }
            if mustResume { transfer.loop.post(.resumeSending(transfer)) }
            await waiter?.value()
            return state.withLock { !$0.isStopped }
        }
    }
#endif
