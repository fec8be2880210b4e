public import MidstreamCore

extension HTTPBody {
    /// The body as lines of text, while it arrives.
    ///
    /// Lines end with LF or CRLF, which isn't part of them; the last needs no end. Bytes that aren't UTF-8 become U+FFFD, and a byte order
    /// mark at the beginning is dropped.
    ///
    /// - Parameter limit: How many bytes a line may have; 1 MiB by default. Past it reading fails with ``HTTPError/Code/bodyTooLarge``.
    public func lines(upTo limit: Int = 1 << 20) -> ElementSequence<String> {
        ElementSequence(BodyLines(body: self, limit: limit))
    }
}

private struct BodyLines: ElementSource {
    let body: HTTPBody
    let limit: Int

    struct Iterator: ElementIterator {
        var reader: LineReader

        mutating func elementAtHand() throws -> String? { try reader.lineAtHand(Self.text) }

        nonisolated(nonsending) mutating func next() async throws -> String? { try await reader.next(Self.text) }

        private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    }

    func makeIterator() -> Iterator { Iterator(reader: LineReader(body, limit: limit)) }
}
