#if os(Linux)
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport

    @testable import MidstreamWire

    /// The transport that the tests in `EitherTransport` are about.
    func testedTransport(configuration: TransportConfiguration = .init()) -> any LoopTransport {
        wireTransport(configuration: configuration)
    }

    /// A transport with settings that no configuration has; the test answers for it as for others.
    func wireTransport(_ settings: WireSettings) -> WireTransport {
        let transport = WireTransport(settings)
        Belongings.current?.add(transport)
        return transport
    }

    /// Whether a loop has noticed that something has come over a connection without a transfer; on its thread.
    func hasBuriedConnection(_ loop: EventLoop) -> Bool { (loop as? WireLoop)?.pool.idle.count == 0 }

    extension HTTP2Limitation {
        /// nghttp2's, not the transport's.
        var applies: Bool { self == .priorityIsChecked }
    }

    extension Misbehaviour.Outcome {
        static let otherwiseOfBrokenConnection: [HTTP2Limitation.Result] = []
    }

    extension Flood {
        /// How long a head may take, and how long a body may stand still: nothing is left to these limits.
        static let patience = Duration.seconds(120)
        /// What a request may end with.
        var outcomes: [HTTPError.Code] { [code] }
    }

    /// What a connection ends with that a server's end breaks in the handshake through a secure proxy which ends its own TLS in order.
    let endBehindSecureProxy = HTTPError.Code.connection

    /// Whether a connection over which more has come than a response carries no other.
    let closesBehindStrayBytes = true

    /// What a server says not to have seen goes out again, whatever its method.
    let resendsWhatWasRefused = true
#endif
