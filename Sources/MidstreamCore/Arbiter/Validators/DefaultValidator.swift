/// Rejects responses whose status says that the request failed, and asks for a retry where one may help.
public struct DefaultValidator: HTTPValidator {
    /// Whether a response without a body passes; true by default. 204, 205, 304 and answers to `HEAD` have none by nature and always pass.
    public var allowsEmptyResponses: Bool
    /// The statuses that pass; 200..<400 by default. One that is among the ``retriableStatus`` as well is retried while retries are left,
    /// and then passes. A request may have others: ``HTTPRequest/acceptableStatus``.
    public var acceptableStatus: HTTPStatusSet
    /// Statuses after which a retry may help. By default 429, 503, 502, 504 and 408, exponential with full jitter: from 1 s
    /// on after 429 and 503, which also wait at least as long as `Retry-After` says, and from 50 ms on after the others. Only requests that may be repeated are: see ``HTTPRequest/allowsUnsafeRetry``.
    public var retriableStatus: [HTTPStatus: RetryStrategy]
    /// Failures after which a retry may help. By default timeouts, failed connections, lost connections and failed name lookups,
    /// exponential from 50 ms on with full jitter. A request that fails because the transport was closed isn't retried, nor
    /// is one that an interceptor holds for hopeless at present.
    public var retriableErrors: [HTTPError.Code: RetryStrategy]

    /// Makes a validator; every parameter's default is the property's.
    public init(
        allowsEmptyResponses: Bool = true, acceptableStatus: HTTPStatusSet = .successAndRedirect,
        retriableStatus: [HTTPStatus: RetryStrategy] = Self.usualStatus,
        retriableErrors: [HTTPError.Code: RetryStrategy] = Self.usualErrors
    ) {
        self.allowsEmptyResponses = allowsEmptyResponses
        self.acceptableStatus = acceptableStatus
        self.retriableStatus = retriableStatus
        self.retriableErrors = retriableErrors
    }

    /// The default of ``retriableStatus``.
    public static let usualStatus: [HTTPStatus: RetryStrategy] = Dictionary(
        uniqueKeysWithValues: HTTPStatus.transient.map { status in
            let isThrottled = status == .tooManyRequests || status == .serviceUnavailable
            return (status, .exponential(base: isThrottled ? .seconds(1) : .milliseconds(50)))
        })

    /// The default of ``retriableErrors``.
    public static let usualErrors: [HTTPError.Code: RetryStrategy] = Dictionary(
        uniqueKeysWithValues: HTTPError.Code.transient.map { ($0, .exponential(base: .milliseconds(50))) })

    /// Fails with ``HTTPError/Code/unacceptableStatus`` or ``HTTPError/Code/emptyResponse``, which carry the response, or asks for
    /// a retry.
    public func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
        verdict(on: response, to: request)
    }

    /// Asks for a retry after a failure that is among the retriable ones. A refusal whose body couldn't be read is judged by its status, as
    /// servers that refuse a request unread often reset the connection.
    public func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
        guard let error = error as? HTTPError else { return .next }
        if error.bodyShortfall != nil, !error.hasEndedCall, let response = error.response, !accepts(response, to: request) {
            return verdict(on: response, to: request)
        }
        guard !error.isForGood, let strategy = retriableErrors[error.code] else { return .next }
        // What this side doesn't send for now it wouldn't send a moment later either.
        if error.isForNow, error.isRefusedHere { return .next }
        return .retry(strategy.automatic)
    }

    /// Whether it has no objection to a response: all that most calls need to know, and without an asynchronous call.
    func accepts(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        if case .next = verdict(on: response, to: request) { true } else { false }
    }

    private func verdict(on response: HTTPResponse, to request: HTTPRequest) -> HTTPVerdict {
        let isAcceptable = (request.acceptableStatus ?? acceptableStatus).contains(response.status)
        if !response.isMade, var strategy = retriableStatus[response.status]?.automatic {
            strategy.isPreference = isAcceptable
            return .retry(strategy)
        }
        guard isAcceptable else { return .fail(HTTPError.unacceptableStatus(response)) }
        if !allowsEmptyResponses, response.lacksExpectedBody {
            return .fail(HTTPError(.emptyResponse, "The response has no body.", request: response.request, response: response))
        }
        return .next
    }
}

extension RetryStrategy {
    fileprivate var automatic: RetryStrategy {
        var strategy = self
        strategy.isAutomatic = true
        return strategy
    }
}

extension HTTPResponse {
    /// Whether there is no body where one may be expected (RFC 9110 §6.4.1).
    fileprivate var lacksExpectedBody: Bool {
        body.length == 0 && ![204, 205, 304].contains(status.code) && request.method != .head
    }
}

extension HTTPError {
    package static func unacceptableStatus(_ response: HTTPResponse) -> HTTPError {
        HTTPError(
            .unacceptableStatus, "The server answered \(response.status).", request: response.request, response: response)
    }
}
