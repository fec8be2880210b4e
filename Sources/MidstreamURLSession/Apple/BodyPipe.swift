#if !canImport(FoundationNetworking)
    internal import CoreFoundation
    internal import Foundation
    internal import Interception

    /// A bound pair of streams: the session reads the one, chunks are written to the other as it has room.
    ///
    /// - Invariant: `@unchecked Sendable` is sound because what changes is touched on `queue` alone, where the stream's events
    ///   arrive too; `input` is only handed on.
    final class BodyPipe: NSObject, StreamDelegate, @unchecked Sendable {
        private static let capacity = 128 << 10

        let input: InputStream
        private let output: OutputStream
        private let queue = DispatchQueue(label: "Midstream request body")
        private var chunk: [UInt8] = []
        private var offset = 0
        private var writer: Suspension<Bool>?
        private var isOver = false
        /// The stream doesn't keep its delegate alive, and would tell one that is gone of an event that comes late. ``finish()`` or
        /// ``abort()`` ends this, and one of them is called for each body.
        private var selfWhileAttached: BodyPipe?

        override init() {
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(withBufferSize: Self.capacity, inputStream: &input, outputStream: &output)
            // The call always makes both; the others only spare an unwrapping.
            self.input = input ?? InputStream(data: Data())
            self.output = output ?? OutputStream.toMemory()
            super.init()
            selfWhileAttached = self
            self.output.delegate = self
            CFWriteStreamSetDispatchQueue(self.output as CFWriteStream, queue)
            self.output.open()
        }

        /// Hands a chunk over and returns when it has been taken; false when no one will.
        func write(_ chunk: [UInt8]) async -> Bool {
            let writer = Suspension<Bool>()
            queue.async {
                self.writer = writer
                guard !self.isOver else { return self.settle(false) }
                self.chunk = chunk
                self.offset = 0
                self.advance()
            }
            if case .value(let isTaken) = await writer.wait() { return isTaken }
            abort()
            return false
        }

        /// The end of the body, unless the writing was stopped.
        func finish() {
            queue.async { if !self.isOver { self.shut() } }
        }

        /// Stops writing. The stream is closed only when it is released, after the task was cancelled, so that what was sent
        /// doesn't pass for a whole body.
        func abort() {
            queue.async {
                self.isOver = true
                self.detach()
                self.settle(false)
            }
        }

        deinit { if output.streamStatus != .closed { output.close() } }

        /// Ends the events. On the queue, so that none is being delivered meanwhile.
        private func detach() {
            output.delegate = nil
            CFWriteStreamSetDispatchQueue(output as CFWriteStream, nil)
            selfWhileAttached = nil
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            switch event {
            case .hasSpaceAvailable: advance()
            case .errorOccurred, .endEncountered:
                settle(false)
                shut()
            default: break
            }
        }

        private func advance() {
            guard writer != nil else { return }
            while offset < chunk.count {
                guard output.hasSpaceAvailable else { return }
                let count = chunk.withUnsafeBufferPointer { bytes in
                    bytes.baseAddress.map { output.write($0 + offset, maxLength: bytes.count - offset) } ?? 0
                }
                guard count > 0 else { return settle(false) }
                offset += count
            }
            settle(true)
        }

        private func settle(_ isTaken: Bool) {
            chunk = []
            writer?.resume(isTaken)
            writer = nil
        }

        private func shut() {
            isOver = true
            detach()
            output.close()
        }
    }
#endif
