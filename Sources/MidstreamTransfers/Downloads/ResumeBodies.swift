public import Interception
public import MidstreamCore

/// Goes on with the body of a `GET` that breaks off while it is taken into memory.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { ResumeBodies() }
/// ```
///
/// The rest is requested with `Range` and `If-Range`, which takes a strong validator (RFC 9110 §13.1.5), and joined only when it is of
/// the same version; when the whole comes instead it is taken, unless it is in another encoding. After a part that is shorter than
/// requested, its rest is requested as well. What is joined has the length that was announced and, when `VerifyDigest` is there, the
/// digest of the whole. Each such request counts as a retry of the client's budget (``RetryBudget``), and passes what stands further in.
/// Responses that are streamed, and requests with a `Range` of their own, aren't touched: ``HTTPClient/download(_:to:options:)`` is for
/// large ones.
///
/// It stands at `.attempt`, so that a retry of the arbiter's begins anew.
public struct ResumeBodies: HTTPInterceptor {
    private let limit: Int

    /// Makes an interceptor.
    ///
    /// - Parameter limit: How often one attempt asks for the rest; 5 by default.
    public init(upTo limit: Int = 5) { self.limit = limit }

    /// The innermost of its stage.
    public var rank: InterceptorRank { .wire }

    /// Its waits end in time; it serves all alike.
    public var traits: InterceptorTraits { [.endsInTime, .impersonal] }

    /// Sends the request, and takes its body into memory.
    ///
    /// - Throws: What `next` throws; what ended the body when its rest can't be had; ``HTTPError/Code/protocolViolation`` for answers that
    ///   contradict themselves or what came before, and when parts are too short too often; ``HTTPError/Code/digestMismatch``,
    ///   ``HTTPError/Code/bodyTooLarge``, ``HTTPError/Code/timeout``.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard request.method == .get, !request.headers.contains(.range), case .buffered(let room)? = next.call?.delivery else {
            return try await next(request)
        }
        var asking = request
        asking.isWatchedArriving = true
        let response = try await next(asking)
        guard response.body.bytes == nil else { return response }
        let arriving = [asking]
        return try await next.position.withinTimeLeft(phase: .answered) { position in
            do {
                return try await collect(response, to: arriving[0], room, next.at(position))
            } catch let error as HTTPError {
                return try error.headAlone(of: response)
            }
        }
    }

    /// Says what would be done.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        .known("asks up to \(limit) times for the rest of a body")
    }

    private func collect(
        _ first: HTTPResponse, to request: HTTPRequest, _ room: Int, _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> HTTPResponse {
        var joined = ReassembledBody(first)
        var attempts = 0
        while true {
            let failure: HTTPError
            do {
                try await joined.receive(room)
                if joined.isComplete { return try joined.whole(of: attempts + 1) }
                failure = HTTPError(
                    .protocolViolation, "The parts that the server sends end after \(joined.bytes.count) bytes.",
                    request: request, phase: .answered)
            } catch let error as HTTPError where error.mayPass {
                failure = error
            }
            guard joined.head.status == .ok, !joined.isChanged, let validator = StrongValidator(joined.head.headers) else {
                throw failure
            }
            attempts += 1
            guard attempts <= limit, next.call?.owner.takeRetry() == true else { throw failure }
            let response = try await rest(of: request, from: joined.bytes.count, validator, next)
            guard try joined.goOn(with: response, validator) else {
                response.body.close()
                throw failure
            }
        }
    }

    private func rest(
        of request: HTTPRequest, from start: Int, _ validator: StrongValidator, _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> HTTPResponse {
        var question = request
        question.headers[.range] = "bytes=\(start)-"
        question.headers[.ifRange] = validator.fieldValue
        next.position.note({ "the body broke off after \(start) bytes; asks for the rest" }, about: request)
        return try await next(question)
    }
}
