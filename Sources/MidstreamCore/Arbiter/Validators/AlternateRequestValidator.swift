/// Sends another request when one is refused, such as a silent login, and then the refused one again.
///
/// Put it before the ``DefaultValidator``, which would reject the status. It works where `maxRetries` is 0: one alternate request
/// and one resend are made for each call. See ``RetryStrategy/after(_:delay:then:)`` for how the request is sent and shared.
public struct AlternateRequestValidator: HTTPValidator {
    /// The statuses that set it off; 401 and 403 by default.
    public let statuses: HTTPStatusSet
    /// Whether getting no response at all sets it off, too; false by default.
    public let alsoWithoutResponse: Bool
    private let request: @Sendable (HTTPRequest, HTTPResponse?) async throws -> HTTPRequest?
    private let then: @Sendable (inout HTTPRequest, HTTPResponse) async throws -> Void

    /// Makes a validator.
    ///
    /// - Parameters:
    ///   - request: Makes the alternate request from the failed one and its response, if there was one; nil: no objection.
    ///   - then: Gets the original request, to be changed, and the response to the alternate one.
    public init(
        statuses: HTTPStatusSet = [401, 403], alsoWithoutResponse: Bool = false,
        request: @escaping @Sendable (HTTPRequest, HTTPResponse?) async throws -> HTTPRequest?,
        then: @escaping @Sendable (inout HTTPRequest, HTTPResponse) async throws -> Void = { _, _ in }
    ) {
        self.statuses = statuses
        self.alsoWithoutResponse = alsoWithoutResponse
        self.request = request
        self.then = then
    }

    /// Asks for the alternate request when the status is one of ``statuses``.
    public func validate(_ response: HTTPResponse, for failed: HTTPRequest) async throws -> HTTPVerdict {
        guard statuses.contains(response.status) else { return .next }
        return try await verdict(failed, response)
    }

    /// Asks for the alternate request when ``alsoWithoutResponse`` is set.
    public func validate(_ error: any Error, for failed: HTTPRequest) async throws -> HTTPVerdict {
        alsoWithoutResponse ? try await verdict(failed, nil) : .next
    }

    private func verdict(_ failed: HTTPRequest, _ response: HTTPResponse?) async throws -> HTTPVerdict {
        guard let alternate = try await request(failed, response) else { return .next }
        return .retry(.after(alternate, then: then))
    }
}
