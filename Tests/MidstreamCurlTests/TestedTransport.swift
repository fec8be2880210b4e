#if os(Linux)
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport

    @testable import MidstreamCurl

    /// The transport that the tests in `EitherTransport` are about.
    func testedTransport(configuration: TransportConfiguration = .init()) -> any LoopTransport {
        curlTransport(configuration: configuration)
    }

    /// Whether a loop has noticed that something has come over a connection without a transfer; on its thread.
    func hasBuriedConnection(_ loop: EventLoop) -> Bool { (loop as? CurlLoop)?.sockets.kept.buried ?? 0 > 0 }

    extension HTTP2Limitation {
        /// Whether the loaded libcurl has it.
        var applies: Bool {
            let isOld = CurlLibrary.version < 0x08_01_00
            return switch self {
            case .cleanResetPassesForEnd, .badFieldsAreLeftOut: !isOld
            case .shortBodyIsAViolation, .accusationIsAViolation: true
            default: isOld
            }
        }
    }

    extension Misbehaviour.Outcome {
        // Before 8.1.0 libcurl closes a broken connection without a word about why. Later ones tell why, but not always at once:
        // the transfer is left without a socket to watch and without a timer, and a limit in time has to end it.
        static let otherwiseOfBrokenConnection: [HTTP2Limitation.Result] = [
            .failure(CurlLibrary.version < 0x08_01_00 ? .connectionLost : .timeout)
        ]
    }

    extension Flood {
        /// How long a head may take, and how long a body may stand still, which ends floods that libcurl doesn't.
        static let patience = Duration.milliseconds(300)
        /// What a request may end with.
        var outcomes: [HTTPError.Code] { [.protocolViolation, .connectionLost, .timeout] }
    }

    /// What a connection ends with that a server's end breaks in the handshake through a secure proxy which ends its own TLS in order. Later
    /// libcurls don't tell it from a fault of TLS.
    let endBehindSecureProxy: HTTPError.Code = CurlLibrary.version < 0x08_01_00 ? .connection : .tls

    /// Libcurl doesn't tell why it sends again, so that what may not be repeated isn't.
    let resendsWhatWasRefused = false

    /// Whether a connection over which more has come than a response carries no other. libcurl passes over what follows a bodiless one.
    let closesBehindStrayBytes = false
#endif
