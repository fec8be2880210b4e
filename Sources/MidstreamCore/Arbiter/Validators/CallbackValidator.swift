/// A validator that is written as a closure.
public struct CallbackValidator: HTTPValidator {
    private let body: @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPVerdict

    /// Makes a validator of a closure, which follows the rules of ``HTTPValidator``.
    public init(_ body: @escaping @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPVerdict) { self.body = body }

    /// Calls the closure.
    public func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
        try await body(response, request)
    }
}
