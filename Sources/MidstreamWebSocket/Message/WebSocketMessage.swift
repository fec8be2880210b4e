/// A message (RFC 6455 §5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// UTF-8 text.
    case text(String)
    /// Bytes.
    case binary([UInt8])

    /// What kind of message it is.
    public enum Kind: Sendable, Hashable {
        /// UTF-8 text.
        case text
        /// Bytes.
        case binary
    }

    /// The content as bytes; a text's are its UTF-8.
    public var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .binary(let bytes): bytes
        }
    }

    /// What kind of message it is.
    public var kind: Kind {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }

    /// The length in bytes, without a copy of them.
    var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

extension WebSocketMessage: CustomStringConvertible, CustomReflectable {
    /// The kind and the length, without the content.
    public var description: String { "\(kind), \(size) bytes" }
    /// Shows no content.
    public var customMirror: Mirror { Mirror(self, children: ["message": description]) }
}
