/// How far a transfer has come: a request's or a response's body, or a download or upload of several requests.
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
    /// How many bytes so far, those included that an earlier download or upload has left. Sent bytes are counted when the transport takes
    /// them, received ones after decoding.
    public let bytes: Int64
    /// How many there will be, when that is known.
    public let total: Int64?
    /// How many bytes of bodies a download or upload has taken from the network, or given to it, those included that it had to take twice.
    /// Nil for a single body; and for an encoded one that is on its way: its length is unknown before its end, and then its head counts as
    /// well.
    public let wireBytes: Int64?
    /// How many were there already when the download or upload began, or began again.
    public let resumedFrom: Int64
    /// How often it has begun again, since what was there couldn't be used.
    public let restarts: Int
    /// Bytes a second of a download or upload: the median of the last 5 seconds, in quarters, and where bytes come in less than three
    /// quarters of these the mean of the last 20 seconds; nil at the beginning, and for a single body.
    public let rate: Double?

    /// Makes a report, as tests do.
    public init(
        _ direction: Direction, bytes: Int64, total: Int64?, wireBytes: Int64? = nil, resumedFrom: Int64 = 0, restarts: Int = 0,
        rate: Double? = nil
    ) {
        self.direction = direction
        self.bytes = bytes
        self.total = total
        self.wireBytes = wireBytes
        self.resumedFrom = resumedFrom
        self.restarts = restarts
        self.rate = rate
    }

    /// The part that is done, 0…1, when the total is known.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : min(1, Double(bytes) / Double(total))
    }

    /// How long it will take at this rate, when the total is known and something comes.
    public var timeLeft: Duration? {
        guard let total, let rate, rate > 0 else { return nil }
        return .seconds(min(max(0, Double(total) - Double(bytes)) / rate, 1e9))
    }
}
