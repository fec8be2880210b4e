package import MidstreamCore

/// A transport that also makes connections for others than itself: ones that carry no HTTP, and those of a request with an `Upgrade` field
/// (RFC 9110 §7.8), sent with a body that is still arriving, whose 101 response has ``HTTPResponse/channel``.
package protocol ChannelTransport: HTTPTransport {
    /// Makes a connection to an origin, by the transport's unix domain socket, proxy and limits; none that it keeps is used for it. Nothing
    /// is offered by ALPN.
    ///
    /// - Parameters:
    ///   - origin: An `https` one is secured.
    ///   - tls: How, for an `https` origin; nil: as the transport is configured. Its files are read anew each time.
    ///   - timeout: How long it may take, waiting for a free place among the transport's connections included.
    /// - Throws: ``HTTPError`` as for a request that wasn't sent; `CancellationError`.
    func connect(to origin: HTTPOrigin, tls: TLSConfiguration?, timeout: Duration) async throws -> any ByteChannel
}
