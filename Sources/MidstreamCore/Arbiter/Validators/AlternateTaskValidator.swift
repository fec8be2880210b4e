/// Does a piece of work on a refused request and sends it again, for credentials that don't come from an HTTP server.
///
/// Put it before the ``DefaultValidator``, which would reject the status. It works where `maxRetries` is 0: one resend is made for
/// each call. See ``RetryStrategy/afterTask(delay:_:onError:)``.
public struct AlternateTaskValidator: HTTPValidator {
    /// The statuses that set it off; 401 and 403 by default.
    public let statuses: HTTPStatusSet
    /// Whether getting no response at all sets it off, too; false by default.
    public let alsoWithoutResponse: Bool
    private let work: @Sendable (inout HTTPRequest) async throws -> Void
    private let onError: (@Sendable (any Error) async -> Void)?

    /// Makes a validator.
    ///
    /// - Parameters:
    ///   - work: Gets the original request, to be changed.
    ///   - onError: Hears of an error of the work; the request is sent again all the same.
    public init(
        statuses: HTTPStatusSet = [401, 403], alsoWithoutResponse: Bool = false,
        work: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        onError: (@Sendable (any Error) async -> Void)? = nil
    ) {
        self.statuses = statuses
        self.alsoWithoutResponse = alsoWithoutResponse
        self.work = work
        self.onError = onError
    }

    /// Asks for the work when the status is one of ``statuses``.
    public func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
        statuses.contains(response.status) ? .retry(.afterTask(work, onError: onError)) : .next
    }

    /// Asks for the work when ``alsoWithoutResponse`` is set.
    public func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
        alsoWithoutResponse ? .retry(.afterTask(work, onError: onError)) : .next
    }
}
