public import Interception

/// Request interceptors that are given to a pipeline as one.
///
/// A pipeline takes it apart, so each one stands at its own stage and rank and appears under its own name.
public struct ChainedRequestInterceptor: RequestInterceptor {
    /// In the order in which they run.
    public let interceptors: [any RequestInterceptor]

    /// Joins request interceptors into one that runs them as listed. An empty list changes nothing.
    public static func chain(inOrder interceptors: [any RequestInterceptor]) -> Self { Self(interceptors: interceptors) }

    /// The first one's; `.attempt` for an empty list.
    public var stage: InterceptorStage { interceptors.first?.stage ?? .attempt }

    /// Runs the interceptors as listed; a throw in one stops the later ones.
    public func intercept(request: inout HTTPRequest) async throws {
        for interceptor in interceptors { try await interceptor.intercept(request: &request) }
    }

    /// Runs the interceptors around the rest of the pipeline, so that one that intercepts responses as well still does.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await next.running(interceptors.map(\.generic), on: request)
    }

    /// Plans one after the other.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { try await interceptors.plan(&request) }
}

/// Response interceptors that are given to a pipeline as one.
///
/// A pipeline takes it apart, so each one stands at its own stage and rank and appears under its own name. The first is the innermost, so
/// that responses pass them as listed; requests pass those that intercept requests as well in the reverse order.
public struct ChainedResponseInterceptor: ResponseInterceptor {
    /// In the order in which they run.
    public let interceptors: [any ResponseInterceptor]

    /// Joins response interceptors into one that runs them as listed. An empty list changes nothing.
    public static func chain(inOrder interceptors: [any ResponseInterceptor]) -> Self { Self(interceptors: interceptors) }

    /// The first one's; `.attempt` for an empty list.
    public var stage: InterceptorStage { interceptors.first?.stage ?? .attempt }

    /// Runs the interceptors as listed; a throw in one stops the later ones.
    public func intercept(response: inout HTTPResponse) async throws {
        for interceptor in interceptors { try await interceptor.intercept(response: &response) }
    }

    /// Runs the interceptors around the rest of the pipeline, the last outermost.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await next.running(interceptors.reversed().map(\.generic), on: request)
    }

    /// Plans one after the other, the last first.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        try await interceptors.reversed().plan(&request)
    }
}

/// Interceptors that are given to a pipeline as one.
///
/// A pipeline takes it apart, so each one stands at its own stage and rank and appears under its own name.
///
/// The library's interceptors have short forms as its static members, for the first line of a pipeline, and as methods of all interceptors
/// for the lines after it; Swift reads a line that begins with a dot as a continuation of the line before.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") {
///     .cookies()
///         .bearer { try await session.token() }
/// }
/// ```
public struct ChainedHTTPInterceptor: HTTPInterceptor {
    /// Outermost first.
    public let interceptors: [any HTTPInterceptor]

    /// Joins interceptors: the first sees requests first and responses last. An empty list passes through.
    public static func chain(inOrder interceptors: [any HTTPInterceptor]) -> Self { Self(interceptors: interceptors) }

    /// The first one's; `.attempt` for an empty list.
    public var stage: InterceptorStage { interceptors.first?.stage ?? .attempt }

    /// Runs the interceptors around the rest of the pipeline; a throw in one keeps the request from those further in.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await next.running(interceptors.map(\.generic), on: request)
    }

    /// Plans one after the other.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { try await interceptors.plan(&request) }
}

extension Sequence {
    /// The plans of interceptors one after the other, each text with the interceptor's name.
    fileprivate func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        var joined = RequestPlan.known()
        for case let interceptor as any HTTPInterceptor in self {
            joined = joined.followed(by: try await interceptor.plan(&request), of: interceptor.name)
            if case .answers = joined { break }
        }
        return joined
    }
}

extension RequestInterceptor {
    /// An interceptor that runs this one, then `other`.
    public func chain(before other: any RequestInterceptor) -> ChainedRequestInterceptor { .chain(inOrder: [self, other]) }
    /// An interceptor that runs `other`, then this one.
    public func chain(after other: any RequestInterceptor) -> ChainedRequestInterceptor { .chain(inOrder: [other, self]) }
}

extension ResponseInterceptor {
    /// An interceptor that runs this one, then `other`.
    public func chain(before other: any ResponseInterceptor) -> ChainedResponseInterceptor { .chain(inOrder: [self, other]) }
    /// An interceptor that runs `other`, then this one.
    public func chain(after other: any ResponseInterceptor) -> ChainedResponseInterceptor { .chain(inOrder: [other, self]) }
}

extension HTTPInterceptor {
    /// An interceptor that runs this one outside `other`.
    public func chain(before other: any HTTPInterceptor) -> ChainedHTTPInterceptor { .chain(inOrder: [self, other]) }
    /// An interceptor that runs this one inside `other`.
    public func chain(after other: any HTTPInterceptor) -> ChainedHTTPInterceptor { .chain(inOrder: [other, self]) }
}

extension RequestInterceptor where Self: ResponseInterceptor {
    /// An interceptor that runs this one outside `other`, as what it is: an interceptor of requests and responses.
    public func chain(before other: any RequestInterceptor & ResponseInterceptor) -> ChainedHTTPInterceptor {
        .chain(inOrder: [self, other])
    }
    /// An interceptor that runs this one inside `other`.
    public func chain(after other: any RequestInterceptor & ResponseInterceptor) -> ChainedHTTPInterceptor {
        .chain(inOrder: [other, self])
    }
}

extension HTTPInterceptor {
    /// The same interceptor at another stage.
    public func at(_ stage: InterceptorStage) -> some HTTPInterceptor { StagedInterceptor(base: self, stage: stage) }
}

/// An interceptor at another stage than its own.
package struct StagedInterceptor: HTTPInterceptor {
    package let base: any HTTPInterceptor
    package let stage: InterceptorStage

    package var rank: InterceptorRank { base.rank }

    package var traits: InterceptorTraits { base.traits }

    package func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await base.intercept(request, next: next)
    }

    package func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { try await base.plan(&request) }

    package func identity(of request: HTTPRequest) -> RequestIdentity { base.identity(of: request) }
}
