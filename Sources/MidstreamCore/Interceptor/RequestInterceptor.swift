public import Interception

/// An interceptor that only looks at requests.
public protocol RequestInterceptor: HTTPInterceptor {
    /// Sees a request with everything set (URL with query, method, headers, body) and may change all of it.
    ///
    /// Called anew for each send that passes its stage, with the request as it entered there: what an earlier try changed is
    /// not in it.
    ///
    /// - Throws: An error, which keeps the request from being sent.
    func intercept(request: inout HTTPRequest) async throws
}

extension RequestInterceptor {
    /// Changes the request and passes it on.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        try await intercept(request: &request)
        return try await next(request)
    }

    /// Changes the request as it would be changed.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        try await intercept(request: &request)
        return .known()
    }
}

/// An interceptor that only looks at responses.
public protocol ResponseInterceptor: HTTPInterceptor {
    /// Sees a response of any status, with the request that it answers, and may change it.
    ///
    /// - Throws: An error, which takes the response's place. A body that is still arriving is then closed.
    func intercept(response: inout HTTPResponse) async throws
}

extension ResponseInterceptor {
    /// Passes the request on and changes the response.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        try await intercepting(try await next(request))
    }

    /// The request passes unchanged.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known() }

    /// The response as the interceptor leaves it; closed when it throws, as is one that it put in its place, since nobody else
    /// will see them.
    func intercepting(_ response: HTTPResponse) async throws -> HTTPResponse {
        var changed = response
        do {
            try await intercept(response: &changed)
        } catch {
            response.body.close()
            changed.body.close()
            throw error
        }
        return changed
    }
}

extension RequestInterceptor where Self: ResponseInterceptor {
    /// Changes the request, passes it on, and changes the response.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        var request = request
        try await intercept(request: &request)
        return try await intercepting(try await next(request))
    }

    /// Changes the request as it would be changed.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        try await intercept(request: &request)
        return .known()
    }
}
