#if os(Linux)
    internal import MidstreamCore

    /// What a dial needs of the loop that drives it; all on its thread.
    protocol DialLoop: ConnectionLoop {
        var channels: Channels { get }
        /// Whether there is room for connections that nobody uses.
        var keepsMore: Bool { get }
        /// A connection stands, of HTTP/1.1 or HTTP/2; the dial has ended.
        func didDial(_ dial: Dial, _ connection: Connection)
        /// The dial has ended without a connection.
        func didFail(_ dial: Dial, _ failure: HTTPError)
    }
#endif
