public import Interception

/// An interceptor in the form of hooks, each of which may be left out.
///
/// For one send it hears, in this order: ``modifyRequest(_:)``, ``willSend(_:)``, then either ``didReceiveSuccess(_:)`` and
/// ``modifyResponse(_:)``, or ``didReceiveFailure(_:for:)``.
public protocol LifecycleInterceptor: HTTPInterceptor {
    /// Changes the request on its way down. Interceptors are asked in list order.
    ///
    /// - Throws: An error, which keeps the request from being sent; it isn't reported to this interceptor again.
    func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest
    /// Changes the response on its way up. Interceptors are asked in reverse list order.
    ///
    /// - Throws: An error, which takes the response's place and is reported to ``didReceiveFailure(_:for:)``.
    func modifyResponse(_ response: HTTPResponse) async throws -> HTTPResponse
    /// Hears of the request as this interceptor passes it on. At stage `.exchange` that is the form on the wire.
    func willSend(_ request: HTTPRequest) async
    /// Hears of any response, whatever its status, before ``modifyResponse(_:)``.
    ///
    /// - Throws: An error, which makes the hook a validator: it takes the response's place and is reported to
    ///   ``didReceiveFailure(_:for:)``.
    func didReceiveSuccess(_ response: HTTPResponse) async throws
    /// Hears of a failure further in, a cancellation included, and of this interceptor's own throw after the response came.
    /// It observes; the error stays what it is.
    func didReceiveFailure(_ error: any Error, for request: HTTPRequest) async
}

extension LifecycleInterceptor {
    /// Leaves the request as it is.
    public func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest { request }
    /// Leaves the response as it is.
    public func modifyResponse(_ response: HTTPResponse) async throws -> HTTPResponse { response }
    /// Does nothing.
    public func willSend(_ request: HTTPRequest) async {}
    /// Does nothing.
    public func didReceiveSuccess(_ response: HTTPResponse) async throws {}
    /// Does nothing.
    public func didReceiveFailure(_ error: any Error, for request: HTTPRequest) async {}

    /// Calls the hooks around the rest of the pipeline.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let request = try await modifyRequest(request)
        await willSend(request)
        var received: HTTPResponse?
        do {
            let response = try await next(request)
            received = response
            try await didReceiveSuccess(response)
            return try await modifyResponse(response)
        } catch {
            // After its own throw nobody further out will see the response, so nobody else can close it.
            received?.body.close()
            await didReceiveFailure(error, for: request)
            throw error
        }
    }

    /// Changes the request as ``modifyRequest(_:)`` does; no other hook runs.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        request = try await modifyRequest(request)
        return .known()
    }
}
