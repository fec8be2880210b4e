import Midstream

/// Asks for a retry where one may help and is left, and has nothing against the last response, whatever it is: the tool shows it.
struct RetryWhileLeft: HTTPValidator {
    let retries: Int
    private let usual = DefaultValidator()

    func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
        // What may not be sent twice is refused by the client, and its response would be gone.
        guard request.attempt <= retries, request.method.isIdempotent || request.headers.contains(.idempotencyKey) else {
            return .next
        }
        let verdict = try await usual.validate(response, for: request)
        if case .retry = verdict { return verdict }
        return .next
    }

    func validate(_ error: any Error, for request: HTTPRequest) async throws -> HTTPVerdict {
        try await usual.validate(error, for: request)
    }
}
