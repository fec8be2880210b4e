/// Settings of a socket.
public struct WebSocketOptions: Sendable {
    /// Whether messages may be compressed (permessage-deflate, RFC 7692).
    public enum Compression: Sendable, Hashable {
        /// It isn't offered.
        case off
        /// It is offered, and messages from 1 KiB on are compressed if the server agrees and zlib is there. Where one message holds both a
        /// secret and text that somebody else chooses, the length of what is sent tells of the secret: don't offer it there.
        case offered
    }

    /// Whether messages may be compressed; ``Compression/off`` by default.
    public var compression: Compression
    /// The largest message to take, in bytes, once inflated; 16 MiB by default. A larger one closes the socket with 1009.
    public var maximumMessage: Int
    /// How many bytes of a message go out in one frame, before pings and pongs have their turn; 64 KiB by default. AWS API Gateway takes no
    /// more than 32 KiB, and servers that take each frame for a message, as Kubernetes' do, want `.max`.
    public var maximumFrame: Int
    /// How often the server is pinged, so that a dead connection is noticed and a quiet one kept by what lies between; nil, never, by
    /// default. 1 ms at least.
    public var pingInterval: Duration?
    /// How long a pong may take, at least 1 ms; 10 s by default. A late pong ends the socket if its ping was due to ``pingInterval``,
    /// messages are being read, nothing else has arrived meanwhile, and nothing has left of what the ping had to wait behind. A process that
    /// is stopped for as long between the two may take a socket that lives for a dead one.
    public var pongTimeout: Duration

    /// Makes settings; every parameter's default is the property's.
    public init(
        compression: Compression = .off, maximumMessage: Int = 16 << 20, maximumFrame: Int = 64 << 10,
        pingInterval: Duration? = nil, pongTimeout: Duration = .seconds(10)
    ) {
        self.compression = compression
        self.maximumMessage = maximumMessage
        self.maximumFrame = maximumFrame
        self.pingInterval = pingInterval
        self.pongTimeout = pongTimeout
    }
}
