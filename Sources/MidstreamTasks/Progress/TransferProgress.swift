internal import MidstreamCore

/// How much of a body has gone over the wire.
public struct TransferProgress: Sendable, Hashable {
    /// Which way a body goes.
    public enum Direction: String, Sendable, Hashable {
        /// The request's body, to the server.
        case upload
        /// The response's body, from the server.
        case download
    }

    /// Which body it is.
    public let direction: Direction
    /// How many of its bytes so far. Sent bytes are counted when the transport takes them, received ones after decoding.
    public let bytes: Int64
    /// How many it has in all, when that is known.
    public let total: Int64?

    /// Makes a report, as tests do.
    public init(_ direction: Direction, bytes: Int64, total: Int64?) {
        self.direction = direction
        self.bytes = bytes
        self.total = total
    }

    /// The part that is done, 0…1, when the total is known.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : min(1, Double(bytes) / Double(total))
    }
}
