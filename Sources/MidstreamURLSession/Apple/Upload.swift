#if !canImport(FoundationNetworking)
    internal import Foundation
    internal import Interception
    internal import MidstreamCore

    /// Feeds a request's body into a stream that the session reads, no faster than it reads.
    final class Upload: Sendable {
        private let body: HTTPBody
        private let length: Int64?
        private let pipe = BodyPipe()
        private let fail: @Sendable (any Error) -> Void
        /// What feeds the stream, and whether it is over, which may be before it has begun.
        private let feeder = Locked<(task: Task<Void, Never>?, isOver: Bool)>((nil, false))

        /// - Parameters:
        ///   - length: What was announced; nil: nothing.
        ///   - fail: Called when the body can't be read or isn't as long as announced; the stream is then left without an end, so that
        ///     what was sent doesn't pass for a whole body.
        init(_ body: HTTPBody, length: Int64?, fail: @escaping @Sendable (any Error) -> Void) {
            self.body = body
            self.length = length
            self.fail = fail
        }

        /// What the session reads.
        var stream: InputStream { pipe.input }

        func start() {
            let task = Task { [body, length, pipe, fail] in
                do {
                    if try await Self.feed(body, length: length, into: pipe) { pipe.finish() }
                } catch {
                    // What is given up is either over or read again by another stream, so it fails nothing.
                    if !Task.isCancelled { fail((error as? HTTPError)?.ofRequestBody ?? error) }
                    pipe.abort()
                }
            }
            let isOver = feeder.withLock { feeder in
                feeder.task = task
                return feeder.isOver
            }
            if isOver { task.cancel() }
        }

        /// Ends the feeding and whatever waits for it.
        func abort() {
            let task = feeder.withLock { feeder in
                feeder.isOver = true
                return feeder.task
            }
            task?.cancel()
            pipe.abort()
        }

        /// Whether the body came to its end, rather than the session ceasing to read it.
        private static func feed(_ body: HTTPBody, length: Int64?, into pipe: BodyPipe) async throws -> Bool {
            var chunks = body.makeAsyncIterator()
            var count: Int64 = 0
            while let chunk = try await chunks.next() {
                count += Int64(chunk.count)
                if let length {
                    // Before the surplus is sent, since the server would take it for the next request.
                    guard count <= length else { throw wrongLength(length) }
                    // The last byte waits for the body's end: with it the request is whole, whatever comes afterwards.
                    if count == length, try await chunks.next() != nil { throw wrongLength(length) }
                }
                guard await pipe.write(chunk) else { return false }
            }
            // A stream may end early because the task was cancelled.
            try Task.checkCancellation()
            if let length, count < length { throw wrongLength(length) }
            return true
        }

        private static func wrongLength(_ length: Int64) -> HTTPError {
            HTTPError(.bodyUnreadable, "The body isn't as long as announced, which is \(length) bytes.")
        }
    }
#endif
