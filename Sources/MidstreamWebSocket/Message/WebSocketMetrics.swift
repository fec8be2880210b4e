/// What has passed over a socket so far.
public struct WebSocketMetrics: Sendable, Hashable {
    /// Messages that have left as a whole.
    public internal(set) var messagesSent = 0
    /// Messages that have come as a whole.
    public internal(set) var messagesReceived = 0
    /// Their bytes, before they were compressed.
    public internal(set) var bytesSent: Int64 = 0
    /// Their bytes, inflated.
    public internal(set) var bytesReceived: Int64 = 0
    /// Bytes of frames, those of control frames included.
    public internal(set) var wireBytesSent: Int64 = 0
    /// Bytes of frames, those of control frames included.
    public internal(set) var wireBytesReceived: Int64 = 0
    /// How long the last ping took until its pong; nil: there was none.
    public internal(set) var lastRoundTrip: Duration?
}
