internal import MidstreamCore

/// The result of an exchange as far as it is due to the server.
enum ExchangeOutcome: Sendable, Equatable {
    /// A response with this status.
    case answered(HTTPStatus)
    /// No response within the attempt's timeout or the call's deadline.
    case timedOut
    /// No response for another reason.
    case broken(HTTPError.Code)
    /// No signal: refused on this side, cancelled, not to be sent at all, or the failure of a call that an interceptor has made by itself.
    case none

    /// The outcome of an exchange that failed.
    init(_ error: any Error) {
        guard let error = error as? HTTPError else {
            self = .none
            return
        }
        switch error.code {
        case _ where error.isRefusedHere || error.hasEndedCall || error.code.isRefusal: self = .none
        // Whether or not anything was sent: a connection that hangs is the server's fault too.
        case .timeout, .deadlineExceeded: self = .timedOut
        case .connection, .connectionLost, .nameResolution, .tls, .proxy, .protocolViolation: self = .broken(error.code)
        default: self = error.response.map { .answered($0.status) } ?? .none
        }
    }

    /// In a few words.
    var summary: String {
        switch self {
        case .answered(let status): "\(status.code)"
        case .timedOut: "timeout"
        case .broken(let code): "\(code)"
        case .none: "nothing"
        }
    }
}
