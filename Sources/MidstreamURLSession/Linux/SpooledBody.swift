#if canImport(FoundationNetworking)
    internal import Foundation
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

        /// - Throws: ``HTTPError/Code/bodyUnreadable`` when the body isn't as long as it said or can't be kept,
        ///   `CancellationError`, and what the body throws.
        init(reading body: HTTPBody) async throws {
            let length = body.length
            var memory: [UInt8] = []
            var file: TemporaryFile?
            var count: Int64 = 0
            for try await chunk in body {
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
