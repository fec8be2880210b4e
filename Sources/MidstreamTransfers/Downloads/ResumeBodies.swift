public import Interception
public import MidstreamCore

/// Goes on with the body of a `GET` that breaks off while it is taken into memory.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { ResumeBodies() }
/// ```
///
/// The rest is asked for with `Range` and `If-Range`, which takes a strong validator (RFC 9110 §13.1.5), and joined only when it is of
/// the same version; when the whole comes instead it is taken. Each such request counts as a retry of the client's budget
/// (``RetryBudget``), and passes what stands further in. Responses that are streamed, and requests with a `Range` of their own, aren't touched:
/// ``HTTPClient/download(_:to:options:)`` is for large ones.
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

    /// Sends the request, and takes its body into memory.
    ///
    /// - Throws: What `next` throws; what ended the body when its rest can't be had; ``HTTPError/Code/bodyTooLarge``,
    ///   ``HTTPError/Code/timeout``.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        guard request.method == .get, !request.headers.contains(.range), case .buffered(let room)? = next.call?.delivery else {
            return try await next(request)
        }
        var asking = request
        asking.isWatchedArriving = true
        let response = try await next(asking)
        guard response.body.bytes == nil else { return response }
        let arriving = [asking]
        return try await TimeLimit(next.position.timeLeft, on: next.call?.owner.clock ?? ContinuousClock()).run { _ in
            .timedOut(phase: .answered)
        } _: {
            try await collect(response, to: arriving[0], room, next)
        }
    }

    /// Says what would be done.
    public func plan(_ request: inout HTTPRequest) async throws -> String? {
        "would ask up to \(limit) times for the rest of a body"
    }

    private func collect(
        _ first: HTTPResponse, to request: HTTPRequest, _ room: Int, _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> HTTPResponse {
        var whole = first
        var (response, bytes) = (first, [UInt8]())
        // How many bytes of the response are there already.
        var skipped = 0
        var attempts = 0
        while true {
            do {
                for try await chunk in response.body {
                    let own = chunk.dropFirst(skipped)
                    skipped -= chunk.count - own.count
                    guard own.count <= room - bytes.count else { throw HTTPError.tooLarge(limit: room) }
                    bytes += own
                }
                // An `AsyncStream` whose reader is cancelled ends as if it were complete.
                try Task.checkCancellation()
                // The head is that of the whole.
                (whole.trailers, whole.metrics) = (response.trailers, response.metrics)
                whole.body = .bytes(bytes)
                return whole
            } catch {
                response.body.close()
                guard let error = error as? HTTPError, error.mayPass, let validator = StrongValidator(whole.headers) else {
                    throw error
                }
                attempts += 1
                guard attempts <= limit, next.call?.owner.takeRetry() == true else { throw error }
                let total = first.body.length
                response = try await rest(of: request, from: bytes.count, validator, next)
                let question = RangeAnswer.Question(start: Int64(bytes.count), total: total, validator: validator)
                switch RangeAnswer(status: response.status, headers: response.headers, to: question) {
                case .part(let range, _): skipped = bytes.count - Int(range.lowerBound)
                case .whole where response.status.isSuccess: (whole, bytes, skipped) = (response, [], 0)
                default:
                    response.body.close()
                    throw error
                }
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

extension ResumeBodies: ImpersonalInterceptor {}
