public import MidstreamCore

/// Bodies for the responses of a ``MockServer``, beside those that any message may have.
extension HTTPBody {
    /// Chunks, each sent by itself (RFC 9112 §7.1). Empty ones are left out, since an empty chunk is the end.
    public static func chunked(_ chunks: [[UInt8]]) -> HTTPBody { .stream { AsyncChunks(chunks.makeIterator()) } }

    /// So many bytes of ``MockServer/patternByte(at:)``, produced while they are sent, in constant memory.
    ///
    /// - Parameter length: nil: without end, and chunked.
    public static func pattern(length: Int?) -> HTTPBody {
        let length = length.map { Swift.max(0, $0) }
        return .stream(length: length.map(Int64.init)) { AsyncChunks(PatternBlocks(rest: length)) }
    }
}

extension MockServer {
    /// The byte at an offset of a ``HTTPBody/pattern(length:)``. The pattern's period is 251, a prime, so that lost, doubled
    /// and swapped blocks show.
    ///
    /// - Parameter offset: From 0 on.
    public static func patternByte(at offset: Int) -> UInt8 { UInt8(offset % 251) }
}

private struct PatternBlocks: IteratorProtocol, Sendable {
    /// Begins and ends where the pattern's period does.
    private static let block = (0..<251 * 256).map(MockServer.patternByte)

    /// nil: there is no end.
    var rest: Int?

    mutating func next() -> [UInt8]? {
        guard let count = rest else { return Self.block }
        guard count > 0 else { return nil }
        rest = count - Swift.min(count, Self.block.count)
        return count < Self.block.count ? Array(Self.block[..<count]) : Self.block
    }
}

/// The chunks of an iterator, which are there without waiting.
private struct AsyncChunks<Chunks: IteratorProtocol<[UInt8]> & Sendable>: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private var chunks: Chunks

    init(_ chunks: Chunks) { self.chunks = chunks }

    func makeAsyncIterator() -> Self { self }

    mutating func next() async -> [UInt8]? { chunks.next() }
}

/// How the end of a response's body is told (RFC 9112 §6.3).
enum ResponseFraming: Equatable {
    case length(Int)
    case chunked
    case untilClose
}
