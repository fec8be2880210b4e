public import Foundation
internal import MidstreamCore

extension MockServer.Response {
    /// The body of a response.
    public struct Body: Sendable, ExpressibleByStringLiteral {
        enum Storage: Sendable {
            case bytes([UInt8])
            case chunked([[UInt8]])
            case pattern(length: Int?)
            case sequence(HTTPBody)
            case closeDelimited([UInt8])
        }

        let storage: Storage
        /// What the response says it is, unless its headers do.
        let contentType: String?

        private init(_ storage: Storage, contentType: String? = nil) {
            self.storage = storage
            self.contentType = contentType
        }

        /// No body: `Content-Length: 0`.
        public static let none = Body(.bytes([]))

        /// Bytes, with `Content-Length`.
        public static func bytes(_ bytes: some Sequence<UInt8>) -> Body { Body(.bytes(Array(bytes))) }

        /// UTF-8 text, with `Content-Length` and, unless given, `Content-Type: text/plain; charset=utf-8`.
        public static func text(_ text: String) -> Body {
            Body(.bytes(Array(text.utf8)), contentType: "text/plain; charset=utf-8")
        }

        /// A string literal is ``text(_:)``.
        public init(stringLiteral value: String) { self = .text(value) }

        /// A value as JSON, with `Content-Length` and, unless given, `Content-Type: application/json`.
        ///
        /// - Throws: The encoder's error.
        public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> Body {
            Body(.bytes(Array(try encoder.encode(value))), contentType: "application/json")
        }

        /// JSON that is written out, as ``json(_:encoder:)`` otherwise. It isn't checked.
        public static func json(text: String) -> Body {
            Body(.bytes(Array(text.utf8)), contentType: "application/json")
        }

        /// Chunks, each sent by itself (RFC 9112 §7.1). Empty ones are left out, since an empty chunk is the end.
        public static func chunked(_ chunks: [[UInt8]]) -> Body { Body(.chunked(chunks)) }

        /// So many bytes of ``patternByte(at:)``, produced while they are sent, in constant memory; with `Content-Length`.
        ///
        /// - Parameter length: nil: without end, and chunked.
        public static func stream(length: Int?) -> Body { Body(.pattern(length: length.map { max(0, $0) })) }

        /// Chunks that a test produces one by one, such as those of an `AsyncStream`, each sent when it comes; chunked, and, unless given,
        /// with `Content-Type: application/octet-stream`: URLSession on Apple's platforms holds the first 512 bytes back of a body whose
        /// type it may have to guess. An error that the sequence throws breaks off the response. The sequence is read for one
        /// response only.
        public static func chunks<S: AsyncSequence & Sendable>(_ chunks: S) -> Body where S.Element == [UInt8] {
            Body(.sequence(.once(chunks)), contentType: "application/octet-stream")
        }

        /// Bytes whose end is the end of the connection (RFC 9112 §6.3, rule 8).
        public static func closeDelimited(_ bytes: some Sequence<UInt8>) -> Body {
            Body(.closeDelimited(Array(bytes)))
        }

        /// The byte at an offset of a ``stream(length:)``. The pattern's period is 251, a prime, so that lost, doubled and
        /// swapped blocks show.
        public static func patternByte(at offset: Int) -> UInt8 { UInt8(offset % 251) }

        /// A piece of the pattern that begins and ends where its period does.
        static let patternBlock = (0..<251 * 256).map(patternByte)
    }
}

extension MockServer.Response.Body {
    /// The number of bytes, when it is known beforehand.
    var length: Int? {
        switch storage {
        case .bytes(let bytes), .closeDelimited(let bytes): bytes.count
        case .chunked(let chunks): chunks.reduce(0) { $0 + $1.count }
        case .pattern(let length): length
        case .sequence: nil
        }
    }

    /// How the body is delimited when nothing else says so.
    var usualFraming: ResponseFraming {
        switch storage {
        case .bytes(let bytes): .length(bytes.count)
        case .pattern(let length?): .length(length)
        case .chunked, .pattern(nil), .sequence: .chunked
        case .closeDelimited: .untilClose
        }
    }
}

/// How the end of a response's body is told (RFC 9112 §6.3).
enum ResponseFraming: Equatable {
    case length(Int)
    case chunked
    case untilClose
}
