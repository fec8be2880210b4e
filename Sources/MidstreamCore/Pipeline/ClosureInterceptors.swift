public import Interception

/// A request interceptor that is written as a closure.
public struct ClosureRequestInterceptor: RequestInterceptor {
    /// `.attempt` unless given.
    public let stage: Stage
    private let body: @Sendable (inout HTTPRequest) async throws -> Void

    /// Makes an interceptor of a closure, which follows the rules of ``RequestInterceptor/intercept(request:)``.
    public init(stage: Stage = .attempt, _ body: @escaping @Sendable (inout HTTPRequest) async throws -> Void) {
        self.stage = stage
        self.body = body
    }

    /// Calls the closure.
    public func intercept(request: inout HTTPRequest) async throws { try await body(&request) }
}

/// A response interceptor that is written as a closure.
public struct ClosureResponseInterceptor: ResponseInterceptor {
    /// `.attempt` unless given.
    public let stage: Stage
    private let body: @Sendable (inout HTTPResponse) async throws -> Void

    /// Makes an interceptor of a closure, which follows the rules of ``ResponseInterceptor/intercept(response:)``.
    public init(stage: Stage = .attempt, _ body: @escaping @Sendable (inout HTTPResponse) async throws -> Void) {
        self.stage = stage
        self.body = body
    }

    /// Calls the closure.
    public func intercept(response: inout HTTPResponse) async throws { try await body(&response) }
}

/// An interceptor that is written as a closure.
public struct ClosureHTTPInterceptor: HTTPInterceptor {
    /// `.attempt` unless given.
    public let stage: Stage
    private let body: @Sendable (HTTPRequest, Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse

    /// Makes an interceptor of a closure, which follows the rules of ``HTTPInterceptor/intercept(_:next:)``.
    public init(
        stage: Stage = .attempt,
        _ body: @escaping @Sendable (HTTPRequest, Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse
    ) {
        self.stage = stage
        self.body = body
    }

    /// Calls the closure.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await body(request, next)
    }
}
