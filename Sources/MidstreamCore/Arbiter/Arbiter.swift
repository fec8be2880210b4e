internal import Interception

/// Decides about attempts: runs one, asks the validators, and acts on their verdict. Nothing else in a pipeline repeats a request
/// by itself.
struct Arbiter: HTTPInterceptor {
    private let configuration: HTTPClient.Configuration

    init(_ configuration: HTTPClient.Configuration) { self.configuration = configuration }

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var attempt = request
        let timeout = request.timeout ?? configuration.timeout
        attempt.attemptEnd = timeout > .zero ? request.call.map { $0.stopwatch.elapsed + timeout } : nil
        var response = try await next(attempt)
        for validator in request.validators ?? configuration.validators {
            switch try await validator.validate(response, for: attempt) {
            case .next: continue
            case .nextWith(let other): response = other
            case .fail(let error): throw error
            case .retry: continue
            }
        }
        return response
    }

    func plan(_ request: inout HTTPRequest) async throws -> String? {
        let retries = request.maxRetries ?? configuration.maxRetries
        let validators = request.validators ?? configuration.validators
        let names = validators.isEmpty ? "no validators" : validators.map { "\(type(of: $0))" }.joined(separator: ", ")
        return "up to \(retries + 1) attempts; asks \(names)"
    }
}
