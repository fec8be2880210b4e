/// Judges what an attempt brought.
///
/// Validators are asked in order, after each attempt. The first verdict that is neither ``HTTPVerdict/next`` nor
/// ``HTTPVerdict/nextWith(_:)`` decides. They only judge: acting on the verdict is the arbiter's work.
public protocol HTTPValidator: Sendable {
    /// Judges a response of any status.
    ///
    /// - Throws: An error, which is the same as ``HTTPVerdict/fail(_:)`` with it.
    func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict

    /// Judges a failure to get a response; ``HTTPVerdict/next`` by default. Never asked about a cancellation.
    ///
    /// - Throws: An error, which is the same as ``HTTPVerdict/fail(_:)`` with it.
    func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict
}

extension HTTPValidator {
    /// ``HTTPVerdict/next``.
    public func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict { .next }
}

/// What a validator finds.
public enum HTTPVerdict: Sendable {
    /// No objection: the next validator is asked.
    case next
    /// No objection to this response in place of the received one: the next validator is asked about it, with its body in memory where the
    /// call wants it there.
    case nextWith(HTTPResponse)
    /// The call fails with this error, which reaches the caller as it is.
    case fail(any Error)
    /// The attempt is to be repeated, if retries are left.
    case retry(RetryStrategy)
}

private enum ValidatorsKey: RequestContextKey { static var defaultValue: [any HTTPValidator]? { nil } }

private enum AcceptableStatusKey: RequestContextKey { static var defaultValue: HTTPStatusSet? { nil } }

extension HTTPRequest {
    /// Validators in place of the client's, `[]` for none; nil, which is also `.none`: the client's.
    public var validators: [any HTTPValidator]? {
        get { context[ValidatorsKey.self] }
        set { context[ValidatorsKey.self] = newValue }
    }

    /// The statuses that are answers to this request, `.all` for every one, in place of ``DefaultValidator/acceptableStatus``; nil: that.
    ///
    /// Other validators are asked as ever. One that is also retriable is retried while retries are left, and is then the answer.
    public var acceptableStatus: HTTPStatusSet? {
        get { carries(AcceptableStatusKey.self) ? context[AcceptableStatusKey.self] : nil }
        set { context[AcceptableStatusKey.self] = newValue }
    }
}
