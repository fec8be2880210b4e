public import Foundation
internal import MidstreamCore
internal import MidstreamPlatform

/// What is uploaded: something that can be read from any place on.
public struct UploadContent: Sendable {
    /// Its media type; nil: unknown.
    let contentType: String?
    let length: @Sendable () throws -> Int64
    /// What is another when it has changed; nil where that can't be told.
    var version: @Sendable () -> FileVersion? = { nil }
    private let part: @Sendable (Range<Int64>) -> HTTPBody

    /// Bytes in memory.
    public static func bytes(_ bytes: [UInt8], contentType: String? = nil) -> UploadContent {
        UploadContent(contentType: contentType) {
            Int64(bytes.count)
        } part: {
            .bytes(Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)]))
        }
    }

    /// A file, which mustn't change until it is sent. Its length is looked up when the upload begins.
    ///
    /// Uploading fails with ``HTTPError/Code/bodyUnreadable`` when it can't be read, and when the rest of it is to follow what was sent of an
    /// earlier state of it, by its size and the time when it was written, or of another file that had its name.
    public static func file(_ url: URL, contentType: String? = nil) -> UploadContent {
        UploadContent(contentType: contentType) {
            guard let length = HTTPBody.file(url).length else {
                throw HTTPError(.bodyUnreadable, "There is no file \(url.path) that could be uploaded.", phase: .notSent)
            }
            return length
        } version: {
            FileVersion(url.path)
        } part: {
            .file(url, range: $0)
        }
    }

    /// Chunks that `make` produces, from any offset on.
    ///
    /// - Parameters:
    ///   - length: How many bytes there are in all. Uploading fails with ``HTTPError/Code/bodyUnreadable`` when it is negative.
    ///   - from: Called for each request with the place of the first byte that is wanted. What goes beyond what is wanted isn't read; a
    ///     sequence that ends before the length makes the upload fail with ``HTTPError/Code/bodyUnreadable``.
    public static func stream<S: AsyncSequence & Sendable>(
        length: Int64, contentType: String? = nil, from make: @escaping @Sendable (Int64) -> S
    ) -> UploadContent where S.Element == [UInt8] {
        UploadContent(contentType: contentType) {
            guard length >= 0 else {
                throw HTTPError(.bodyUnreadable, "\(length) bytes can't be uploaded.", phase: .notSent)
            }
            return length
        } part: { range in
            .stream(length: range.upperBound - range.lowerBound) {
                Beginning(chunks: make(range.lowerBound), count: range.upperBound - range.lowerBound)
            }
        }
    }

    /// Some of it, as the body of a request.
    func body(_ range: Range<Int64>) -> HTTPBody { range.isEmpty ? .empty : part(range) }
}

/// The first bytes of a sequence of chunks.
private struct Beginning<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element == [UInt8] {
    let chunks: Base
    let count: Int64

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: Base.AsyncIterator
        var left: Int64

        mutating func next() async throws -> [UInt8]? {
            guard left > 0, let chunk = try await chunks.next() else { return nil }
            let own = chunk.prefix(Int(Swift.min(left, Int64(chunk.count))))
            left -= Int64(own.count)
            return own.count == chunk.count ? chunk : Array(own)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: chunks.makeAsyncIterator(), left: count) }
}
