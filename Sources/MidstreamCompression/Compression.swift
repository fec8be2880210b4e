public import MidstreamCore

/// How the body of a request can be compressed (RFC 9110 §8.4.1).
public struct Compression: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Sendable { case gzip, zstd }
    private let kind: Kind
    /// zlib's; -1 for its usual one.
    private var level: Int32 = -1

    /// gzip (RFC 1952), by zlib.
    public static let gzip = Compression(kind: .gzip)
    /// gzip at zlib's lowest level, which takes less than half of the time.
    package static let fastGzip = Compression(kind: .gzip, level: 1)
    /// zstd (RFC 8878), by libzstd.
    public static let zstd = Compression(kind: .zstd)

    /// Its name in `Content-Encoding`.
    public var description: String { kind == .gzip ? "gzip" : "zstd" }

    /// Whether its library is there; looked up once.
    public var isAvailable: Bool {
        switch kind {
        case .gzip: GzipCompressor.library != nil
        case .zstd: ZstdCompressor.library != nil
        }
    }

    func compressor() throws -> any Compressor {
        let compressor: (any Compressor)? =
            switch kind {
            case .gzip: GzipCompressor(level: level)
            case .zstd: ZstdCompressor()
            }
        guard let compressor else { throw HTTPError.unsupported("The library that compresses by \(self) isn't there.") }
        return compressor
    }

    static var failure: HTTPError { HTTPError(.bodyUnreadable, "The body can't be compressed.", phase: .notSent) }
}

extension HTTPBody {
    /// The body, compressed while it is read; the request that it is sent with needs a `Content-Encoding`.
    ///
    /// It is as replayable as this one, and keeps its media type. Bytes in memory are compressed now, so their length is known; that of any
    /// other body isn't. A body that can be read only once comes out chunk by chunk, so that live ones stay live; chunks below a few
    /// kibibytes compress less well by that. An empty body stays as it is. Without the library reading fails with
    /// ``HTTPError/Code/unsupported``, and with ``HTTPError/Code/bodyUnreadable`` where a stream isn't as long as it was said to be, or a
    /// file is cut while it is read.
    ///
    /// ``CompressRequests`` does this and the rest.
    public func compressed(_ compression: Compression) -> HTTPBody {
        if let bytes {
            if bytes.isEmpty { return self }
            if let whole = try? compression.compressor().compress(bytes, .end) { return typed(.bytes(whole)) }
        }
        // One that is made of a spent body doesn't look spent, so the head would be sent before that shows.
        if isSpent { return self }
        let chunks = CompressedChunks(body: self, compression: compression)
        return typed(replayability == .replayable ? .stream { chunks } : .once(chunks))
    }

    private func typed(_ body: HTTPBody) -> HTTPBody { contentType.map { body.withContentType($0) } ?? body }
}

private struct CompressedChunks: AsyncSequence, Sendable {
    let body: HTTPBody
    let compression: Compression

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: HTTPBody.AsyncIterator
        let compression: Compression
        /// What follows each chunk.
        let step: CompressionStep
        /// How many bytes are still to come of a stream whose length was said.
        var left: Int64?
        var compressor: (any Compressor)?
        var isAtEnd = false

        mutating func next() async throws -> [UInt8]? {
            if isAtEnd { return nil }
            let compressor = try compressor ?? compression.compressor()
            self.compressor = compressor
            while let chunk = try await chunks.next() {
                left = left.map { $0 - Int64(chunk.count) }
                let compressed = try compressor.compress(chunk, step)
                if !compressed.isEmpty { return compressed }
            }
            // The compressed body, which has no length, would be whole.
            guard left ?? 0 == 0 else { throw HTTPError(.bodyUnreadable, "The body isn't as long as announced.") }
            isAtEnd = true
            self.compressor = nil
            return try compressor.compress([], .end)
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            chunks: body.makeAsyncIterator(), compression: compression, step: body.replayability == .once ? .flush : .goOn,
            // A file may have grown, and its length isn't announced.
            left: body.filePath == nil ? body.length : nil)
    }
}
