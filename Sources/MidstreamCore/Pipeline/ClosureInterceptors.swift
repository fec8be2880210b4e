public import Interception

/// A request interceptor that is written as a closure.
public struct ClosureRequestInterceptor: RequestInterceptor, NamedInterceptor {
    /// `.attempt` unless given.
    public let stage: Stage
    package let name: String
    private let body: @Sendable (inout HTTPRequest) async throws -> Void

    /// Makes an interceptor of a closure, which follows the rules of ``RequestInterceptor/intercept(request:)``.
    ///
    /// - Parameter name: What pipelines and traces call it; the type's name by default.
    public init(
        _ name: String? = nil, stage: Stage = .attempt, _ body: @escaping @Sendable (inout HTTPRequest) async throws -> Void
    ) {
        self.name = name ?? "ClosureRequestInterceptor"
        self.stage = stage
        self.body = body
    }

    /// Calls the closure.
    public func intercept(request: inout HTTPRequest) async throws { try await body(&request) }
}

/// A response interceptor that is written as a closure.
public struct ClosureResponseInterceptor: ResponseInterceptor, NamedInterceptor {
    /// `.attempt` unless given.
    public let stage: Stage
    package let name: String
    private let body: @Sendable (inout HTTPResponse) async throws -> Void

    /// Makes an interceptor of a closure, which follows the rules of ``ResponseInterceptor/intercept(response:)``.
    ///
    /// - Parameter name: What pipelines and traces call it; the type's name by default.
    public init(
        _ name: String? = nil, stage: Stage = .attempt, _ body: @escaping @Sendable (inout HTTPResponse) async throws -> Void
    ) {
        self.name = name ?? "ClosureResponseInterceptor"
        self.stage = stage
        self.body = body
    }

    /// Calls the closure.
    public func intercept(response: inout HTTPResponse) async throws { try await body(&response) }
}

/// An interceptor that is written as a closure.
public struct ClosureHTTPInterceptor: HTTPInterceptor, NamedInterceptor {
    /// `.attempt` unless given.
    public let stage: Stage
    package let name: String
    private let body: @Sendable (HTTPRequest, Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse

    /// Makes an interceptor of a closure, which follows the rules of ``HTTPInterceptor/intercept(_:next:)``.
    ///
    /// - Parameter name: What pipelines and traces call it; the type's name by default.
    public init(
        _ name: String? = nil, stage: Stage = .attempt,
        _ body: @escaping @Sendable (HTTPRequest, Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse
    ) {
        self.name = name ?? "ClosureHTTPInterceptor"
        self.stage = stage
        self.body = body
    }

    /// Calls the closure.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await body(request, next)
    }
}
