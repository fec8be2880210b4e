package import MidstreamCore

/// An error of ``Authenticator/refresh(_:)`` that asks for patience, such as when another process is refreshing or the service is overloaded.
///
/// Until the time is over, calls that need a refresh fail with it behind ``HTTPError/Code/authentication``, unless their token is one of
/// OAuth's that hasn't expired, and none is begun. It doesn't count in the limit on refreshes.
public protocol PostponedRefresh: Error {
    /// How long no refresh should be tried; at most a day.
    var retryAfter: Duration { get }
}

/// An error of a refresh with a reason that everybody may read.
package protocol PublicRefusal: Error {
    var publicReason: String { get }
    /// The status of the answer; nil when there was none.
    var status: HTTPStatus? { get }
    /// Whether only a login helps; false by default.
    var needsLogin: Bool { get }
}

extension PublicRefusal {
    package var needsLogin: Bool { false }
}

extension Error {
    /// Whether a later call may have a credential though nobody logs in: the error asks for patience, or nobody has judged the credential.
    var isRefusalForNow: Bool {
        if let refusal = self as? any PublicRefusal, refusal.needsLogin { return false }
        // An inner `authentication` has been marked by its own interceptor.
        if let error = self as? HTTPError { return error.code == .deadlineExceeded || error.mayPassOnAnotherConnection }
        return self is any PostponedRefresh || isUnanswered
    }

    /// Whether nobody has judged the credential: the server couldn't be asked, or was too busy or too broken to answer.
    var isUnanswered: Bool {
        switch self {
        case let error as any PublicRefusal: error.status.isOverload
        // It tells an earlier attempt's answer.
        case let error as HTTPError where error.code.isRefusal: true
        case let error as HTTPError:
            switch error.cause {
            case .timeout, .deadlineExceeded, .connectionLost: true
            case .invalidRequest, .unsupported: false
            case .authentication: error.underlying?.isUnanswered ?? false
            default: error.response.map { Optional($0.status).isOverload } ?? true
            }
        default: false
        }
    }
}

extension HTTPStatus? {
    fileprivate var isOverload: Bool { map { $0.isServerError || $0 == .tooManyRequests } ?? false }
}
