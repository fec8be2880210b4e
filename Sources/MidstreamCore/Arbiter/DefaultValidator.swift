/// Rejects responses whose status says that the request failed.
public struct DefaultValidator: HTTPValidator {
    /// The statuses that pass; 200..<400 by default.
    public var acceptableStatus: HTTPStatusSet

    /// Makes a validator that accepts the given statuses.
    public init(acceptableStatus: HTTPStatusSet = .successAndRedirect) {
        self.acceptableStatus = acceptableStatus
    }

    /// Fails with ``HTTPError/Code/unacceptableStatus``, which carries the response.
    public func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> Verdict {
        guard acceptableStatus.contains(response.status) else {
            return .fail(
                HTTPError(
                    .unacceptableStatus, "The server answered \(response.status).", request: response.request,
                    response: response))
        }
        return .next
    }
}
