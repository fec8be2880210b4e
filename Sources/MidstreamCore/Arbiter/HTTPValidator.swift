/// Judges what an attempt brought.
///
/// Validators are asked in order, after each attempt. The first verdict that is neither ``Verdict/next`` nor
/// ``Verdict/nextWith(_:)`` decides. They only judge: acting on the verdict is the arbiter's work.
public protocol HTTPValidator: Sendable {
    /// Judges a response of any status.
    ///
    /// - Throws: An error, which is the same as ``Verdict/fail(_:)`` with it.
    func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> Verdict

    /// Judges a failure to get a response; ``Verdict/next`` by default. Never asked about a cancellation.
    ///
    /// - Throws: An error, which is the same as ``Verdict/fail(_:)`` with it.
    func validate(_ error: any Error, for request: HTTPRequest) async throws -> Verdict
}

extension HTTPValidator {
    /// ``Verdict/next``.
    public func validate(_ error: any Error, for request: HTTPRequest) async throws -> Verdict { .next }
}

/// What a validator finds.
public enum Verdict: Sendable {
    /// No objection: the next validator is asked.
    case next
    /// No objection to this response in place of the received one: the next validator is asked about it.
    case nextWith(HTTPResponse)
    /// The call fails with this error, which reaches the caller as it is.
    case fail(any Error)
    /// The attempt is to be repeated, if retries are left.
    case retry(RetryStrategy)
}
