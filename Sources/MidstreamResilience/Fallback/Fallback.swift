public import Interception
public import MidstreamCore

/// Answers in place of a server that can't: with yesterday's data, an empty list, a default.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") {
///     Fallback { request, error in
///         guard request.method.isSafe else { throw error }
///         return HTTPResponse(status: .ok, body: .text("[]"), request: request)
///     }
/// }
/// ```
///
/// It stands around the whole call, after retries and validators. The response is marked (``HTTPResponse/isFallback``), and the trace has
/// the reason. A cancellation by the call's user is passed on, and so are errors of the closure, and the failure of a request whose answer would
/// be taken for a login: an alternate (``AlternateRequestValidator``), or one for an OAuth token. Nor does it answer for a socket, or for an
/// event stream that connects again, which its answer would end; not even with another server's stream. And it makes no success
/// of an upload that failed, and cuts no list by an answer in place of a page after the first.
///
/// It answers requests of every method: without the guard above, an order that the server never saw would have succeeded.
///
/// The closure may wait, such as for a database. Called in time it is ended at the deadline as any other code; called because the deadline has
/// passed it isn't bound by it, and takes as long as it takes. Cancelling the call ends it.
public struct Fallback: HTTPInterceptor {
    private let covers: @Sendable (any Error) -> Bool
    private let answer: @Sendable (HTTPRequest, any Error) async throws -> HTTPResponse

    /// Makes a fallback.
    ///
    /// - Parameters:
    ///   - on: For which failures; by default for those of the server or the network: no response, a deadline, a refusal by a limit or
    ///     breaker, statuses from 500 on and 429.
    ///   - answer: Makes the response, which no validator checks. An error that it throws is the call's.
    public init(
        on covers: @escaping @Sendable (any Error) -> Bool = Fallback.isUnavailable,
        answer: @escaping @Sendable (_ request: HTTPRequest, _ error: any Error) async throws -> HTTPResponse
    ) {
        self.covers = covers
        self.answer = answer
    }

    /// `.call`
    public var stage: InterceptorStage { .call }

    /// ``InterceptorTraits/endsInTime``: a closure that is called before the deadline is ended at it; one that is called because of the deadline
    /// takes its time, and holds up the call.
    public var traits: InterceptorTraits { .endsInTime }

    /// Whether the server is unavailable at present, by the failure.
    public static let isUnavailable: @Sendable (any Error) -> Bool = { error in
        guard let error = error as? HTTPError else { return false }
        switch error.cause {
        case .timeout, .deadlineExceeded, .connection, .connectionLost, .nameResolution, .tls, .proxy, .protocolViolation:
            return true
        case let cause where cause.isRefusal: return true
        default: return error.response.map { $0.status.code >= 500 || $0.status == .tooManyRequests } ?? false
        }
    }

    /// Sends the request on, and answers when that fails.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        do {
            return try await next(request)
        } catch {
            guard !(error is CancellationError), !request.needsServersAnswer, covers(error) else { throw error }
            (error as? HTTPError)?.response?.body.close()
            var response = try await response(to: request, insteadOf: error, at: next.position)
            response.isFallback = true
            let reason = (error as? HTTPError).map { "\($0.cause)" } ?? "\(type(of: error))"
            next.position.record(
                { .fallbackUsed(reason: reason, status: response.status.code) }, about: request)
            return response
        }
    }

    /// What the closure answers.
    @inline(never)
    private func response(
        to request: HTTPRequest, insteadOf error: any Error, at position: ChainPosition
    ) async throws -> HTTPResponse {
        guard position.isOver(position.deadline) else {
            return try await position.untilDeadline { [answer] position in
                try await ChainPosition.local.withValue(position) { try await answer(request, error) }
            }
        }
        return try await position.afterDeadline { [answer] in try await answer(request, error) }
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

private enum FallbackKey: RequestContextKey { static let defaultValue = false }

extension HTTPResponse {
    /// Whether a ``Fallback`` has made it in place of the server.
    public internal(set) var isFallback: Bool {
        get { context[FallbackKey.self] }
        set { context[FallbackKey.self] = newValue }
    }
}
