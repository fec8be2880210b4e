enum UnsafeRetryKey: RequestContextKey { static let defaultValue = false }
private enum AskedAgainKey: RequestContextKey { static let defaultValue = false }
private enum RedirectedFromKey: RequestContextKey { static let defaultValue: RedirectedFrom = [] }

/// What keeps a whole call from being made twice, of the requests that it began with and that redirects led through.
struct RedirectedFrom: OptionSet, Hashable {
    let rawValue: UInt8
    /// One that may not be sent again, or that was made of one that may.
    static let unrepeatable = RedirectedFrom(rawValue: 1)
    /// One whose body can be read only once, and has been.
    static let spent = RedirectedFrom(rawValue: 2)
    /// One that may be sent again for the sake of a key that an interceptor has added, and that is another one in the next call.
    static let withoutKey = RedirectedFrom(rawValue: 4)
}

extension HTTPRequest {
    /// Whether it may be sent again after a failure although its method isn't idempotent; false by default.
    public var allowsUnsafeRetry: Bool {
        get { context[UnsafeRetryKey.self] }
        set { context[UnsafeRetryKey.self] = newValue }
    }

    /// Whether it may be sent twice: its method is idempotent (RFC 9110 §9.2.2), it has an `Idempotency-Key`, or ``allowsUnsafeRetry``
    /// is set.
    package var isRepeatable: Bool { method.isIdempotent || headers.contains(.idempotencyKey) || allowsUnsafeRetry }

    /// Whether its whole call may be made twice: what that began with and the requests that redirects led here from may be sent again as well.
    fileprivate var isRepeatableFromTheStart: Bool { isRepeatable && redirectedFrom.isEmpty }

    /// Notes what a redirect led here from, such as the `POST` before the `GET` of a 303.
    mutating func follow(_ origin: HTTPRequest) {
        var from = redirectedFrom.union(origin.redirectedFrom)
        // A closure may also make a POST of what a GET was redirected to.
        if isRepeatable != origin.isRepeatable { from.insert(.unrepeatable) }
        if origin.body.isSpent { from.insert(.spent) }
        if !from.isEmpty { redirectedFrom = from }
    }

    /// Notes that the call, as it was given, may not be made twice. Errors while the response's body is read know only what is sent.
    mutating func belongToUnrepeatableCall() {
        if isRepeatable, !allowsUnsafeRetry { redirectedFrom.insert(.withoutKey) }
    }

    /// Whether it may be sent once more in place of a response that refuses it: not when its body has been used up, nor when it may not be
    /// sent twice and the response refuses only what a redirect has led to from it.
    package func canBeSentAgain(after response: HTTPResponse) -> Bool {
        // What led here itself isn't sent with it.
        !body.isSpent && (followsUnrepeatable || !response.request.followsUnrepeatable)
    }

    /// Whether redirects led here from one that may not be sent again, or made one of a request that may.
    var followsUnrepeatable: Bool { redirectedFrom.contains(.unrepeatable) }

    /// Whether it is sent again in place of an answer that wasn't good enough, which no cache is to give once more by itself.
    package var isAskedAgain: Bool {
        get { carries(AskedAgainKey.self) && context[AskedAgainKey.self] }
        set { context[AskedAgainKey.self] = newValue }
    }

    /// What redirects led here from; nothing in a request that a call begins with.
    var redirectedFrom: RedirectedFrom {
        get { carries(RedirectedFromKey.self) ? context[RedirectedFromKey.self] : [] }
        set { context[RedirectedFromKey.self] = newValue }
    }
}

extension HTTPStatus {
    /// The statuses that may pass by themselves: 408, 429, 502, 503 and 504.
    package static let transient: [HTTPStatus] = [
        .requestTimeout, .tooManyRequests, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]
}

extension HTTPError.Code {
    /// The failures that may pass by themselves: a timeout, a connection that can't be made or breaks, a name that isn't found.
    package static let transient: [HTTPError.Code] = [.timeout, .connection, .connectionLost, .nameResolution]

    /// Whether a breaker, limit or quota of the client has refused the request.
    package var isRefusal: Bool { self == .circuitOpen || self == .overloaded || self == .rateLimited }
}

extension HTTPError {
    /// Whether the failure may pass by itself and the request may be sent a second time.
    ///
    /// Such failures are a timeout, a connection that can't be made or breaks, a name that isn't found, and the statuses 408, 429,
    /// 502, 503 and 504; after retries the last attempt's counts. A closed transport isn't such a failure. A request may be sent
    /// twice when it wasn't sent at all, its method is idempotent (RFC 9110 §9.2.2), it has an `Idempotency-Key`, or
    /// ``HTTPRequest/allowsUnsafeRetry`` says so; of several that redirects led through each has to allow it. A key that an interceptor has
    /// added doesn't count, since the next call's is another one. A request whose body can be read only once, and has been, may not be
    /// sent twice. Where a call failed that an interceptor has made by itself, it is the request of the call around it that has to allow it,
    /// sent or not.
    public var isTransient: Bool {
        let last = code == .retriesExhausted ? underlying as? HTTPError : self
        switch code {
        case _ where last?.isForGood == true: return false
        case _ where code != .bodyNotReplayable && Code.transient.contains(cause): break
        case .unacceptableStatus, .retriesExhausted:
            guard let status = response?.status, HTTPStatus.transient.contains(status) else { return false }
        default: return false
        }
        if let mayBeRepeated { return mayBeRepeated }
        return request?.body.isSpent != true && (phase == .notSent || request?.isRepeatableFromTheStart == true)
    }

    /// The error as a call of this request has it that hasn't ended yet. What a call within it fails with doesn't say how far this request has
    /// come, which may have been answered before.
    func befalling(_ request: HTTPRequest) -> HTTPError {
        guard hasEndedCall else { return self }
        var error = self
        error.mayBeRepeated = request.isRepeatableFromTheStart && !request.body.isSpent
        if phase == .notSent { error.phase = .maybeProcessed }
        return error
    }

    /// The last answer before the failure, also where that tells of several attempts.
    package var lastResponse: HTTPResponse? { response ?? (underlying as? HTTPError)?.response }

    /// Whether the failure needn't befall another connection as well, for what is connected until it is told to end. After a 500 the next
    /// one may lead to another server, and a proxy that fails is a part of the way.
    package var mayPassOnAnotherConnection: Bool {
        switch code {
        case _ where isForNow || code.isRefusal: true
        case _ where isForGood: false
        case .retriesExhausted: (underlying as? HTTPError)?.mayPassOnAnotherConnection ?? false
        case .unacceptableStatus:
            response.map { $0.status == .internalServerError || HTTPStatus.transient.contains($0.status) } ?? false
        case .proxy: true
        default: Code.transient.contains(code)
        }
    }
}
