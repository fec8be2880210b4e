#if os(Linux)
    import Glibc
    package import Interception
    package import MidstreamCore

    /// Reads a body in its own task, ahead of what the loop is sending, so that each wake-up hands over several chunks.
    package final class UploadFeeder: Feeder {
        private struct State {
            var chunks = Queue<[UInt8]>()
            /// How many bytes of the first one have been sent.
            var sent = 0
            /// How many bytes are still to be sent.
            var size = 0
            /// No further chunk will come.
            var isEnded = false
            var feeding = FeedingTask()

            mutating func copy(into buffer: UnsafeMutableRawBufferPointer) -> Int {
                var count = 0
                while count < buffer.count, let chunk = chunks.first {
                    let piece = min(chunk.count - sent, buffer.count - count)
                    chunk.withUnsafeBytes { bytes in
                        UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[sent..<(sent + piece)]))
                    }
                    count += piece
                    sent += piece
                    if sent == chunk.count {
                        _ = chunks.popFirst()
                        sent = 0
                    }
                }
                size -= count
                return count
            }
        }

        /// How much is read ahead: 768 KiB, and no further chunk beyond it. Reading goes on when half of that is sent.
        private static let limit = 768 << 10

        /// The length that was announced; nil: none.
        package let length: Int64?
        private let body: HTTPBody
        private let state = Locked(State())
        let executor: CallersExecutor

        package init(_ body: HTTPBody, length: Int64?, executor: CallersExecutor) {
            self.body = body
            self.length = length
            self.executor = executor
        }

        func withTask<Result>(_ body: (inout FeedingTask) -> Result) -> Result { state.withLock { body(&$0.feeding) } }

        /// Whether all of the body has been taken.
        package var isDrained: Bool { state.withLock { $0.isEnded && $0.size == 0 } }

        /// Whether nothing of the body has been read.
        package var isUntouched: Bool { state.withLock { $0.feeding.task == nil } }

        /// Copies what there is into a buffer, and tells how many bytes; zero: the end; nil: there are none now, and the transfer is resumed
        /// when there are.
        package func read(into buffer: UnsafeMutableRawBufferPointer, for transfer: Transfer) -> Int? {
            var waiter: Suspension<Void>?
            var mustStart = false
            let result = state.withLock { state -> Int? in
                let count = state.copy(into: buffer)
                if state.size <= Self.limit / 2 { swap(&waiter, &state.feeding.waiter) }
                if count > 0 || state.isEnded { return count }
                state.feeding.isAwaited = true
                mustStart = state.feeding.task == nil && !state.feeding.isStopped
                return nil
            }
            waiter?.resume()
            if mustStart { start(for: transfer) }
            return result
        }

        func feed(_ transfer: Transfer) async throws {
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
                let offer = state.withLock { state in
                    state.chunks.append(chunk)
                    state.size += chunk.count
                    return state.feeding.offer(isEnough: state.size >= Self.limit)
                }
                guard await waitForNeed(after: offer, for: transfer) else { return }
                if total == length { break }
            }
            if let length, total < length { throw mismatch("shorter", length, transfer) }
            let mustResume = state.withLock { state in
                state.isEnded = true
                return state.feeding.offer(isEnough: false).mustResume
            }
            if mustResume { transfer.loop.post(.resumeSending(transfer)) }
        }

        private func mismatch(_ how: String, _ length: Int64, _ transfer: Transfer) -> HTTPError {
            HTTPError(
                .bodyUnreadable, "The body is \(how) than the \(length) bytes that were announced.", request: transfer.request,
                phase: .maybeProcessed)
        }
    }
#endif
