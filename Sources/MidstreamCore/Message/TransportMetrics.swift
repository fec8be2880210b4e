/// A transport's measurements of one exchange. Durations count from its start; a part that it can't measure is nil.
public struct TransportMetrics: Sendable, Hashable {
    /// Until the host's name was resolved.
    public var nameLookup: Duration?
    /// Until the connection stood (TCP or the proxy's).
    public var connect: Duration?
    /// Until the TLS handshake was done; nil without TLS.
    public var tlsHandshake: Duration?
    /// Until the transport began to send the request: the wait for a connection is over.
    public var sendStart: Duration?
    /// Until the first byte of the response.
    public var firstByte: Duration?
    /// Until the end of the response.
    public var total: Duration?
    /// The server's, or the proxy's, address.
    public var remoteAddress: String?
    /// The port at that address.
    public var remotePort: Int?
    /// The address of this side.
    public var localAddress: String?
    /// The port of this side.
    public var localPort: Int?
    /// The TLS version, such as `TLSv1.3`; nil without TLS.
    public var tlsVersion: String?
    /// Whether the TLS session was resumed, so that certificates weren't exchanged again (RFC 8446 §2.2); nil without TLS, and where
    /// the transport can't tell.
    public var isResumedSession: Bool?
    /// The connection's number: exchanges of one transport that have the same number shared a connection; nil where the transport can't
    /// tell.
    public var connection: Int?
    /// Whether a connection was used that stood already.
    public var isReusedConnection: Bool?
    /// How many times the transport sent the request again by itself after a part of it had been sent, since a kept connection had died
    /// under it or the server had refused it unseen; 0 as a rule. Each is charged to the client's ``RetryBudget``, but for those of a
    /// cache's validations in the background, which don't keep the client. For a streamed response known with its head.
    public var resends: Int?
    /// The responses before the final one, in order, without 100 (Continue), 32 at most. For a streamed response known with its head.
    public var interim: [InterimResponse] = []
    /// Bytes of the request that were sent, its head included.
    public var bytesSent: Int64?
    /// Bytes of the response that were received, before decoding, its head included; by the wire with the framing of HTTP, such as the
    /// heads of chunks and frames, and by others without. TLS's own aren't counted.
    public var bytesReceived: Int64?
    /// Bytes of the request's body that were sent.
    public var requestBodyBytes: Int64?
    /// Bytes of the response's body that were received, before decoding.
    public var responseBodyBytes: Int64?
    /// Until the transport began to make the connection, after a wait for a place or the loss of another connection; nil: with the exchange, or
    /// the connection stood already.
    package var connectStart: Duration?

    /// Nothing known yet.
    public init() {}
}
