#if canImport(FoundationNetworking)
    internal import Foundation
    internal import Interception

    /// A pipe whose reader waits for its writer and the other way round.
    ///
    /// The session reads on its queue and knows no "not yet", so reading blocks that queue. The session therefore has no other
    /// exchange (``Sessions``).
    final class BodyPipe: Sendable {
        private struct State {
            var chunk: [UInt8] = []
            var offset = 0
            var writer: CheckedContinuation<Bool, Never>?
            var isReaderWaiting = false
            var isFinished = false
            var isAborted = false
        }

        private let state = Locked(State())
        private let arrival = DispatchSemaphore(value: 0)

        /// What the session reads.
        var input: InputStream { PipeStream(self) }

        /// Hands a chunk over and returns when it has been read; false when no one will.
        func write(_ chunk: [UInt8]) async -> Bool {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isAborted = state.withLock { state in
                        guard !state.isAborted else { return true }
                        state.chunk = chunk
                        state.offset = 0
                        state.writer = continuation
                        wakeReader(&state)
                        return false
                    }
                    if isAborted { continuation.resume(returning: false) }
                }
            } onCancel: {
                abort()
            }
        }

        /// The end of the body.
        func finish() {
            state.withLock { state in
                state.isFinished = true
                wakeReader(&state)
            }
        }

        /// Makes reading fail, unless the end was reached.
        func abort() {
            let writer = state.withLock { state in
                state.isAborted = true
                wakeReader(&state)
                defer { state.writer = nil }
                return state.writer
            }
            writer?.resume(returning: false)
        }

        private func wakeReader(_ state: inout State) {
            guard state.isReaderWaiting else { return }
            state.isReaderWaiting = false
            arrival.signal()
        }

        /// Waits for bytes and copies them; 0 at the end, -1 when there won't be one.
        fileprivate func read(into buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
            while true {
                var writer: CheckedContinuation<Bool, Never>?
                let count: Int? = state.withLock { state in
                    if state.isAborted { return -1 }
                    let count = min(length, state.chunk.count - state.offset)
                    if count > 0 {
                        state.chunk.withUnsafeBufferPointer { chunk in
                            if let start = chunk.baseAddress { buffer.update(from: start + state.offset, count: count) }
                        }
                        state.offset += count
                        if state.offset == state.chunk.count {
                            state.chunk = []
                            state.offset = 0
                            writer = state.writer
                            state.writer = nil
                        }
                        return count
                    }
                    if state.isFinished { return 0 }
                    state.isReaderWaiting = true
                    return nil
                }
                writer?.resume(returning: true)
                if let count { return count }
                arrival.wait()
            }
        }
    }

    private final class PipeStream: InputStream {
        private let pipe: BodyPipe
        private var status = Stream.Status.notOpen

        init(_ pipe: BodyPipe) {
            self.pipe = pipe
            super.init(data: Data())
        }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
            pipe.read(into: buffer, maxLength: length)
        }

        /// Also before anything has come: otherwise the session takes the body to be at its end.
        override var hasBytesAvailable: Bool { true }
        override func open() { status = .open }
        override func close() { status = .closed }
        override var streamStatus: Stream.Status { status }
        override var streamError: (any Error)? { nil }
    }
#endif
