public import Interception
public import MidstreamCore

/// Answers in place of a server that can't: with what was known yesterday, an empty list, a default.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") {
///     Fallback { request, error in
///         HTTPResponse(status: .ok, body: .text("[]"), request: request)
///     }
/// }
/// ```
///
/// It stands around the whole call, so retries have been made and the validators have spoken. The response says that it is one
/// (``HTTPResponse/isFallback``), and the trace says why. A cancellation by the call's user is passed on, and so is what
/// the closure throws.
public struct Fallback: HTTPInterceptor {
    private let isMeant: @Sendable (any Error) -> Bool
    private let answer: @Sendable (HTTPRequest, any Error) async throws -> HTTPResponse

    /// Makes a fallback.
    ///
    /// - Parameters:
    ///   - on: For which failures; by default for what the server or the way there is to blame for: no answer, a deadline, a refusal by a
    ///     limit or breaker, and the statuses from 500 on and 429.
    ///   - answer: Makes the response, which must be acceptable as it is: no validator sees it. What it throws is what the call ends with.
    public init(
        on isMeant: @escaping @Sendable (any Error) -> Bool = Fallback.isUnavailable,
        answer: @escaping @Sendable (_ request: HTTPRequest, _ error: any Error) async throws -> HTTPResponse
    ) {
        self.isMeant = isMeant
        self.answer = answer
    }

    /// `.call`
    public var stage: InterceptorStage { .call }

    /// Whether a failure says that the server can't be had at present.
    public static let isUnavailable: @Sendable (any Error) -> Bool = { error in
        guard let error = error as? HTTPError else { return false }
        switch error.cause {
        case .timeout, .deadlineExceeded, .connection, .connectionLost, .nameResolution, .tls, .proxy, .protocolViolation,
            .circuitOpen, .overloaded, .rateLimited:
            return true
        default: return error.response.map { $0.status.code >= 500 || $0.status == .tooManyRequests } ?? false
        }
    }

    /// Sends the request on, and answers when that fails.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        do {
            return try await next(request)
        } catch {
            // One that has left wants no answer.
            guard !(error is CancellationError), isMeant(error) else { throw error }
            (error as? HTTPError)?.response?.body.close()
            var response = try await answer(request, error)
            response.isFallback = true
            let reason = (error as? HTTPError).map { "\($0.cause)" } ?? "\(type(of: error))"
            next.position.record(
                { .fallbackUsed(reason: reason, status: response.status.code) }, about: request)
            return response
        }
    }

    /// Changes nothing.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .known("answers if the call fails")
    }
}

extension CallEvent {
    /// A fallback answered with this status in place of the server; the reason is what the call would have ended with.
    fileprivate static func fallbackUsed(reason: String, status: Int) -> CallEvent {
        CallEvent(
            "fallback", "answers \(status) in place of the server: \(reason)",
            ["reason": .string(reason), "status": .count(status)])
    }
}

private enum FallbackKey: RequestContextKey {
    static let defaultValue = false
}

extension HTTPResponse {
    /// Whether a ``Fallback`` has made it in place of the server.
    public internal(set) var isFallback: Bool {
        get { context[FallbackKey.self] }
        set { context[FallbackKey.self] = newValue }
    }
}
