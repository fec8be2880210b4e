#if canImport(FoundationNetworking)
    internal import Foundation
    internal import Interception
    internal import MidstreamCore

    /// A request's body that was read to its end before it is sent.
    ///
    /// On Linux a session reads a body stream by waiting for it on the queue that all sessions of the process share: a slow
    /// body would stop them all, and one that depends on another request would stop them for ever. A file it reads without
    /// waiting.
    enum SpooledBody: Sendable {
        case memory([UInt8])
        case file(TemporaryFile, URL)

        /// How much is kept in memory; more goes to a file.
        private static let memoryLimit = 512 << 10

        /// Reads a body in its own task, so that a cancelled caller needn't wait for a body that doesn't look for cancellation. The task ends
        /// with the next chunk then.
        ///
        /// - Parameter length: What was announced; nil: nothing.
        /// - Throws: What ``init(reading:)`` throws; `CancellationError` as soon as the caller is cancelled.
        static func reading(_ body: HTTPBody, length: Int64?) async throws -> SpooledBody {
            let ending = Suspension<Result<SpooledBody, any Error>>()
            let reader = Task { ending.resume(await .of { try await SpooledBody(reading: body, length: length) }) }
            if case .value(let result) = await ending.wait() {
                // Whatever it was, the server has had no part in it.
                do { return try result.get() } catch { throw (error as? HTTPError)?.refusedHere ?? error }
            }
            reader.cancel()
            throw CancellationError()
        }

        /// - Throws: ``HTTPError/Code/bodyUnreadable`` when the body isn't as long as announced or can't be kept,
        ///   `CancellationError`, and what the body throws.
        private init(reading body: HTTPBody, length: Int64?) async throws {
            var memory: [UInt8] = []
            var file: TemporaryFile?
            var count: Int64 = 0
            for try await chunk in body {
                try Task.checkCancellation()
                // A body that never waits would keep its thread from all others.
                await Task.yield()
                if let length, count + Int64(chunk.count) > length { throw Self.wrongLength(length) }
                if file == nil, Int(count) + chunk.count > Self.memoryLimit {
                    file = try Self.keeping { try TemporaryFile(isNamed: true) }
                    try Self.keeping { try file?.write(memory, at: 0) }
                    memory = []
                }
                if let file {
                    try Self.keeping { try file.write(chunk, at: count) }
                } else {
                    memory += chunk
                }
                count += Int64(chunk.count)
            }
            // A stream may end early because the task was cancelled.
            try Task.checkCancellation()
            if let length, count < length { throw Self.wrongLength(length) }
            if let file, let url = file.url { self = .file(file, url) } else { self = .memory(memory) }
        }

        private static func keeping<Value>(_ work: () throws -> Value) throws -> Value {
            do { return try work() } catch {
                throw HTTPError(
                    .bodyUnreadable, "The body can't be kept in a temporary file.", underlying: error, phase: .notSent)
            }
        }

        private static func wrongLength(_ length: Int64) -> HTTPError {
            HTTPError(
                .bodyUnreadable, "The body isn't as long as announced, which is \(length) bytes.", phase: .notSent)
        }
    }
#endif
