public import MidstreamCore

extension HTTPBody {
    /// The body as lines of text, while it arrives.
    ///
    /// Lines end with LF or CRLF, which isn't part of them; the last needs no end. Bytes that aren't UTF-8 become U+FFFD, and a byte order
    /// mark at the beginning is dropped.
    ///
    /// - Parameter limit: How many bytes a line may have; 1 MiB by default.
    public func lines(upTo limit: Int = 1 << 20) -> BodyLines { BodyLines(body: self, limit: limit) }
}

/// The lines of a body; see ``HTTPBody/lines(upTo:)``.
public struct BodyLines: AsyncSequence, Sendable {
    fileprivate let body: HTTPBody
    fileprivate let limit: Int

    /// Reads the lines. A body that can be read once is claimed by it.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var reader: LineReader

        fileprivate init(_ lines: BodyLines) { reader = LineReader(lines.body, limit: lines.limit) }

        /// The next line; nil at the end, and after an error.
        ///
        /// - Throws: ``HTTPError/Code/bodyTooLarge`` for a line that is too long, and what the body throws. A body that is
        ///   still arriving is closed then.
        @inlinable
        public mutating func next() async throws -> String? {
            // Inlined: a line that has come already costs its reader no call of an asynchronous function, which takes as long as to
            // make the text.
            if let line = try lineAtHand() { return line }
            return try await lineToCome()
        }

        /// The same in the caller's isolation, which `for try await` asks for: an actor isn't left for a line that has come already.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            if let line = try lineAtHand() { return line }
            return try await lineToCome()
        }

        @usableFromInline
        mutating func lineAtHand() throws -> String? { try reader.lineAtHand(Self.text) }

        @usableFromInline
        nonisolated(nonsending) mutating func lineToCome() async throws -> String? { try await reader.next(Self.text) }

        private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
