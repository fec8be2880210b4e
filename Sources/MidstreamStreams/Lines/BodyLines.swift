public import MidstreamCore

extension HTTPBody {
    /// The body as lines of text, while it arrives.
    ///
    /// Lines end with LF or CRLF, which isn't part of them; the last needs no end. Bytes that aren't UTF-8 become U+FFFD, and a byte order
    /// mark at the beginning is dropped.
    ///
    /// - Parameter limit: How many bytes a line may have; 1 MiB by default. Past it reading fails with ``HTTPError/Code/bodyTooLarge``.
    public func lines(upTo limit: Int = 1 << 20) -> ElementSequence<String> {
        ElementSequence(BodyLines(body: self, limit: limit) { String(decoding: $0, as: UTF8.self) })
    }

    /// The same lines as bytes, for those who don't want repaired what isn't UTF-8.
    package func lineBytes(upTo limit: Int = 1 << 20) -> ElementSequence<[UInt8]> {
        ElementSequence(BodyLines(body: self, limit: limit) { Array($0) })
    }
}

private struct BodyLines<Element>: ElementSource {
    let body: HTTPBody
    let limit: Int
    let read: @Sendable (UnsafeBufferPointer<UInt8>) -> Element

    struct Iterator: ElementIterator {
        var reader: LineReader
        let read: @Sendable (UnsafeBufferPointer<UInt8>) -> Element

        mutating func elementAtHand() throws -> Element? { try reader.lineAtHand(read) }

        nonisolated(nonsending) mutating func next() async throws -> Element? { try await reader.next(read) }
    }

    func makeIterator() -> Iterator { Iterator(reader: LineReader(body, limit: limit), read: read) }
}
