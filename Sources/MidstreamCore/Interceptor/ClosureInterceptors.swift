public import Interception

/// A request interceptor that is written as a closure.
public struct ClosureRequestInterceptor: RequestInterceptor {
    /// `.attempt` unless given.
    public let stage: InterceptorStage
    /// ``InterceptorTraits/endsInTime`` if the closure is synchronous, since it can't wait.
    public let traits: InterceptorTraits
    package let name: String
    private let body: @Sendable (inout HTTPRequest) async throws -> Void
    private let planning: (@Sendable (inout HTTPRequest) async throws -> RequestPlan)?

    /// Makes an interceptor of a closure, which follows the rules of ``RequestInterceptor/intercept(request:)``.
    ///
    /// - Parameters:
    ///   - name: What pipelines and traces call it; the type's name by default.
    ///   - stage: Where it stands.
    ///   - body: Changes requests.
    ///   - plan: What an explanation runs in place of `body`, by the rules of ``HTTPInterceptor/plan(_:)``. By default it runs
    ///     `body`; so a closure that does more than change the request should come with a plan.
    public init(
        _ name: String? = nil, stage: InterceptorStage = .attempt,
        _ body: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        plan: (@Sendable (inout HTTPRequest) async throws -> RequestPlan)? = nil
    ) {
        self.init(name, stage, [], body, plan)
    }

    /// The same for a closure without `await`, which needs no interruption at a deadline.
    public init(
        _ name: String? = nil, stage: InterceptorStage = .attempt,
        _ body: @escaping @Sendable (inout HTTPRequest) throws -> Void,
        plan: (@Sendable (inout HTTPRequest) async throws -> RequestPlan)? = nil
    ) {
        self.init(name, stage, .endsInTime, body, plan)
    }

    private init(
        _ name: String?, _ stage: InterceptorStage, _ traits: InterceptorTraits,
        _ body: @escaping @Sendable (inout HTTPRequest) async throws -> Void,
        _ plan: (@Sendable (inout HTTPRequest) async throws -> RequestPlan)?
    ) {
        self.name = name ?? "ClosureRequestInterceptor"
        self.stage = stage
        self.traits = traits
        self.body = body
        planning = plan
    }

    /// Calls the closure.
    public func intercept(request: inout HTTPRequest) async throws { try await body(&request) }

    /// Calls the plan; without one the closure itself.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        if let planning { return try await planning(&request) }
        try await body(&request)
        return .known()
    }
}

/// A response interceptor that is written as a closure.
public struct ClosureResponseInterceptor: ResponseInterceptor {
    /// `.attempt` unless given.
    public let stage: InterceptorStage
    /// ``InterceptorTraits/endsInTime`` if the closure is synchronous, since it can't wait.
    public let traits: InterceptorTraits
    package let name: String
    private let body: @Sendable (inout HTTPResponse) async throws -> Void

    /// Makes an interceptor of a closure, which follows the rules of ``ResponseInterceptor/intercept(response:)``.
    ///
    /// - Parameter name: What pipelines and traces call it; the type's name by default.
    public init(
        _ name: String? = nil, stage: InterceptorStage = .attempt,
        _ body: @escaping @Sendable (inout HTTPResponse) async throws -> Void
    ) {
        self.init(name, stage, [], body)
    }

    /// The same for a closure without `await`, which needs no interruption at a deadline.
    public init(
        _ name: String? = nil, stage: InterceptorStage = .attempt,
        _ body: @escaping @Sendable (inout HTTPResponse) throws -> Void
    ) {
        self.init(name, stage, .endsInTime, body)
    }

    private init(
        _ name: String?, _ stage: InterceptorStage, _ traits: InterceptorTraits,
        _ body: @escaping @Sendable (inout HTTPResponse) async throws -> Void
    ) {
        self.name = name ?? "ClosureResponseInterceptor"
        self.stage = stage
        self.traits = traits
        self.body = body
    }

    /// Calls the closure.
    public func intercept(response: inout HTTPResponse) async throws { try await body(&response) }
}

/// An interceptor that is written as a closure.
public struct ClosureHTTPInterceptor: HTTPInterceptor {
    /// `.attempt` unless given.
    public let stage: InterceptorStage
    package let name: String
    private let body: @Sendable (HTTPRequest, Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse
    private let planning: (@Sendable (inout HTTPRequest) async throws -> RequestPlan)?

    /// Makes an interceptor of a closure, which follows the rules of ``HTTPInterceptor/intercept(_:next:)``.
    ///
    /// - Parameters:
    ///   - name: What pipelines and traces call it; the type's name by default.
    ///   - stage: Where it stands.
    ///   - body: Handles requests.
    ///   - plan: What an explanation runs, by the rules of ``HTTPInterceptor/plan(_:)``. By default `.unknown`.
    public init(
        _ name: String? = nil, stage: InterceptorStage = .attempt,
        _ body: @escaping @Sendable (HTTPRequest, Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse,
        plan: (@Sendable (inout HTTPRequest) async throws -> RequestPlan)? = nil
    ) {
        self.name = name ?? "ClosureHTTPInterceptor"
        self.stage = stage
        self.body = body
        planning = plan
    }

    /// Calls the plan; `.unknown` without one.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        guard let planning else { return .missing }
        return try await planning(&request)
    }

    /// Calls the closure.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await body(request, next)
    }
}

extension HTTPInterceptor {
    /// The name by which pipelines, explanations and traces call the interceptor: its type's, or the one that a closure was given.
    package var name: String {
        // By type: to ask for a protocol takes as long as a request does, the first time for each type.
        switch self {
        case let closure as ClosureRequestInterceptor: closure.name
        case let closure as ClosureResponseInterceptor: closure.name
        case let closure as ClosureHTTPInterceptor: closure.name
        default: "\(type(of: self as Any))"
        }
    }
}
