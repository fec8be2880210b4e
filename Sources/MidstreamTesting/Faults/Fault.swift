public import MidstreamCore

/// Something that goes wrong with an exchange, on purpose: on the wire of a ``MockServer``, between a client and a real server by
/// ``Chaos``, in a ``Simulation`` by ``Incidents``.
///
/// The latter two have no wire: they show the client what it would see of one. Where there can be no body, in the answer to a `HEAD` and with 204
/// and 304, that is nothing of what goes wrong with bodies.
public enum Fault: Sendable, Hashable {
    /// Where in a response a fault strikes.
    public enum Place: Sendable, Hashable {
        /// Before the first byte of the head; interim responses have been sent.
        case beforeHead
        /// After about half of the head.
        case insideHead
        /// After so many bytes of the body, not counting chunk framing; no more than it has. After its last byte means in a chunked body
        /// before the final chunk, and after none of a body that isn't there after the head.
        case insideBody(afterBytes: Int)
        /// After the whole response, which didn't announce it.
        case afterResponse
    }

    /// The head comes so much later.
    case delay(ServiceTime)
    /// This status, without a body, in place of the response. ``Chaos`` doesn't send the request.
    case status(HTTPStatus)
    /// The exchange fails with this code; nothing is sent. A ``MockServer`` can bring about `connectionLost`, `timeout` (by silence) and
    /// `protocolViolation`.
    case error(HTTPError.Code)
    /// The connection is closed in an orderly way (FIN).
    case disconnect(Place)
    /// The connection is reset (RST).
    case reset(Place)
    /// Nothing more is sent, until the client leaves or the server is shut down. ``Chaos`` doesn't send a request whose head it holds back.
    case stall(Place)
    /// The body is sent at so many bytes a second, in at most ten slices a second; less than 1 counts as 1.
    case throttle(bytesPerSecond: Int)
    /// Head and body are sent byte by byte, with a wait after each.
    case dribble(delay: Duration)
    /// These bytes are sent in place of the response, and the connection is closed.
    case garbage([UInt8])
    /// The head is filled up to at least so many bytes with `X-Filler` fields. Made while it is sent, so that any size is possible. Without
    /// a wire it is always too large.
    case oversizeHead(bytes: Int)
    /// `Content-Length` has this value, whatever the body's length; the connection is closed after the body.
    case wrongContentLength(declared: Int)
    /// The body, which there has to be, is chunked, and after it begins a chunk of 16 bytes of which 8 are sent before the connection is closed.
    case truncatedChunk
}

extension Fault {
    /// Where the fault strikes, for those that strike at one place.
    var place: Place? {
        switch self {
        case .disconnect(let place), .reset(let place), .stall(let place): place
        default: nil
        }
    }

    /// Such as `status 503` or `disconnect(insideBody(afterBytes: 3))`.
    var summary: String {
        switch self {
        case .status(let status): "status \(status.code)"
        case .error(let code): "\(code)"
        case .delay: "a delay"
        case .garbage: "garbage"
        case .disconnect(let place): "disconnect(\(place))"
        case .reset(let place): "reset(\(place))"
        case .stall(let place): "stall(\(place))"
        default: "\(self)"
        }
    }
}
