public import MidstreamCore

/// How the body of a request can be compressed (RFC 9110 §8.4.1).
public struct Compression: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Sendable { case gzip, zstd }
    private let kind: Kind

    /// gzip (RFC 1952), by zlib.
    public static let gzip = Compression(kind: .gzip)
    /// zstd (RFC 8878), by libzstd.
    public static let zstd = Compression(kind: .zstd)

    /// Its name in `Content-Encoding`.
    public var description: String { kind == .gzip ? "gzip" : "zstd" }

    /// Whether its library is there. It is looked for when it is asked for first.
    public var isAvailable: Bool {
        switch kind {
        case .gzip: GzipCompressor.library != nil
        case .zstd: ZstdCompressor.library != nil
        }
    }

    func compressor() throws -> any Compressor {
        let compressor: (any Compressor)? =
            switch kind {
            case .gzip: GzipCompressor()
            case .zstd: ZstdCompressor()
            }
        guard let compressor else {
            throw HTTPError(.unsupported, "The library that compresses by \(self) isn't there.", phase: .notSent)
        }
        return compressor
    }

    static var failure: HTTPError { HTTPError(.bodyUnreadable, "The body can't be compressed.", phase: .notSent) }
}

extension HTTPBody {
    /// The body, compressed while it is read; the request that it is sent with needs a `Content-Encoding`.
    ///
    /// It is as replayable as this one, and its media type stays. What is in memory is compressed now, so its length is known; that of
    /// any other isn't. Of one that can be read only once, what has been read comes out whenever its source waits, so that live ones stay
    /// live; any other comes to the same bytes each time. No body stays none. Without the library reading fails with
    /// ``HTTPError/Code/unsupported``.
    ///
    /// ``CompressRequests`` does this and the rest.
    public func compressed(_ compression: Compression) -> HTTPBody {
        if let bytes {
            if bytes.isEmpty { return self }
            if let whole = try? compression.compressor().compress(bytes, .end) { return typed(.bytes(whole)) }
        }
        let chunks = CompressedChunks(body: self, compression: compression)
        return typed(replayability == .replayable ? .stream { chunks } : .once(chunks))
    }

    private func typed(_ body: HTTPBody) -> HTTPBody { contentType.map { body.withContentType($0) } ?? body }
}

private struct CompressedChunks: AsyncSequence, Sendable {
    let body: HTTPBody
    let compression: Compression

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: ChunksAhead
        let compression: Compression
        let isLive: Bool
        var compressor: (any Compressor)?
        var isAtEnd = false

        mutating func next() async throws -> [UInt8]? {
            if isAtEnd { return nil }
            let compressor = try compressor ?? compression.compressor()
            self.compressor = compressor
            while let chunk = try await chunks.next() {
                var compressed = try compressor.compress(chunk, .goOn)
                if isLive, await !chunks.hasNext() { compressed += try compressor.compress([], .flush) }
                if !compressed.isEmpty { return compressed }
            }
            // An `AsyncStream` whose reader is cancelled ends as if it were complete.
            try Task.checkCancellation()
            isAtEnd = true
            self.compressor = nil
            return try compressor.compress([], .end)
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: ChunksAhead(body), compression: compression, isLive: body.replayability == .once)
    }
}
