internal import Foundation
public import Interception
public import MidstreamCore

/// Sends no more requests in a time than the server takes: as many as you say, and as it says itself.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { RateLimit(perSecond: 10, burst: 20) }
/// ```
///
/// A bucket of tokens fills at the rate up to the burst, and each exchange takes one. When there is none the request waits for
/// its turn, up to `maximumWait` and as long as the attempt and the call may take; otherwise it fails at once with
/// ``HTTPError/Code/rateLimited``, which isn't retried.
///
/// From responses it learns what is left (`RateLimit` and `RateLimit-Policy`, draft-ietf-httpapi-ratelimit-headers-11) and when the server
/// wants to be left alone (429 with `Retry-After`, RFC 9110 §10.2.3, which wins over the fields). What can't be read is ignored, and
/// noted in the trace.
///
/// It stands inside the cache, whose hits cost nothing.
public final class RateLimit: HTTPInterceptor {
    /// Fields by which servers told of limits before there was a draft for it.
    public struct Dialect: Sendable, Hashable {
        let remaining: HTTPHeaders.Name
        let reset: HTTPHeaders.Name
        let resetIsTime: Bool

        /// `X-RateLimit-Remaining`, and `X-RateLimit-Reset` as the time in seconds since 1970: GitHub's and many others'.
        public static let resetTime = Dialect(remaining: "X-RateLimit-Remaining", reset: "X-RateLimit-Reset", resetIsTime: true)
        /// `X-RateLimit-Remaining`, and `X-RateLimit-Reset` in seconds from now.
        public static let resetSeconds = Dialect(
            remaining: "X-RateLimit-Remaining", reset: "X-RateLimit-Reset", resetIsTime: false)
    }

    private final class Shelf: Sendable {
        let key: String
        let quota: Locked<TokenBucket>

        init(_ key: String, _ bucket: TokenBucket) {
            self.key = key
            quota = Locked(bucket)
        }
    }

    private let perSecond: Double?
    private let burst: Double
    private let maximumWait: Duration
    private let longest: Int64
    private let dialect: Dialect?
    private let table: ScopeTable<Shelf>
    private let time = Timekeeper()

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - perSecond: How many requests a second; nil, the default: as many as the server's own policy says, and any number while it
    ///     says nothing.
    ///   - burst: How many at once after a rest; those of one second by default, at least 1.
    ///   - maximumWait: How long a request may wait for its turn; 10 s by default.
    ///   - adaptive: Whether a 429 halves the rate, which then comes back by a tenth a second; false by default. It makes all requests of the
    ///     key wait for what one of them has met.
    ///   - dialect: Older fields to read where the standard ones are missing; none by default, since they mean different things to
    ///     different servers.
    ///   - scope: Which requests share a quota; those to one origin by default.
    public init(
        perSecond: Double? = nil, burst: Double? = nil, maximumWait: Duration = .seconds(10), adaptive: Bool = false,
        dialect: Dialect? = nil, scope: ResilienceScope = .origin
    ) {
        let burst = max(1, burst ?? perSecond ?? 1)
        self.perSecond = perSecond
        self.burst = burst
        self.maximumWait = maximumWait
        longest = min(max(.zero, maximumWait), .longest).wholeNanoseconds
        self.dialect = dialect
        table = ScopeTable(scope) { Shelf($0, TokenBucket(rate: perSecond, burst: burst, isAdaptive: adaptive)) }
    }

    /// `.exchange`
    public var stage: InterceptorStage { .exchange }
    /// `.quota`
    public var rank: InterceptorRank { .quota }

    /// Sends the request when it is its turn.
    ///
    /// - Throws: ``HTTPError/Code/rateLimited`` when that would take too long.
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let shelf = table.state(for: request)
        let now = time.now(next.call)
        // A hedge that has to wait is of no use.
        let most = request.isHedge ? 0 : longest
        let (decision, place) = shelf.quota.withLock { quota -> (QuotaDecision, UInt64) in
            let decision = quota.reserve(at: now, waitingAtMost: most)
            if case .sends(let wait) = decision, wait > 0, let left = next.timeLeft, left.wholeNanoseconds <= wait {
                quota.giveBack(quota.lastPlace)
                return (.refuses(wait: wait), 0)
            }
            return (decision, quota.lastPlace)
        }
        switch decision {
        case .sends(0): break
        case .sends(let wait): try await pause(wait, place, shelf, request, next)
        case .refuses(let wait): throw refusal(wait, shelf, request, next)
        }
        let response = try await next(request)
        learn(from: response, shelf, next)
        return response
    }

    /// Says what the limit is.
    public func plan(_ request: inout HTTPRequest) async throws -> String? {
        guard let perSecond else { return "as many requests as the server says; would wait up to \(maximumWait.brief)" }
        return "\(perSecond) requests a second, \(Int(min(burst, 1e15))) at once; would wait up to \(maximumWait.brief)"
    }

    private func pause(
        _ wait: Int64, _ place: UInt64, _ shelf: Shelf, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws {
        next.position.record(
            { CallEvents.QuotaWait(key: shelf.key, wait: .nanoseconds(wait), isSent: true) }, about: request)
        let clock = next.call?.stopwatch.clock ?? ContinuousClock()
        do {
            try await clock.pause(for: .nanoseconds(wait))
        } catch {
            shelf.quota.withLock { $0.giveBack(place) }
            throw error
        }
    }

    private func refusal(
        _ wait: Int64, _ shelf: Shelf, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) -> HTTPError {
        let wait = Duration.nanoseconds(wait)
        next.position.record({ CallEvents.QuotaWait(key: shelf.key, wait: wait, isSent: false) }, about: request)
        let bound =
            wait > maximumWait ? "and requests wait at most \(maximumWait.brief)" : "which is longer than this one may take"
        return HTTPError(
            .rateLimited, "The quota of \(shelf.key) is used up for \(wait.brief), \(bound). Send fewer, or later.",
            request: request, phase: .notSent)
    }

    private func learn(from response: HTTPResponse, _ shelf: Shelf, _ next: Next<HTTPRequest, HTTPResponse>) {
        let isThrottled = response.status == .tooManyRequests
        // Most responses say nothing.
        guard
            isThrottled || response.headers.contains("RateLimit") || response.headers.contains("RateLimit-Policy")
                || dialect.map({ response.headers.contains($0.remaining) }) == true
        else { return }
        let owner = next.call?.owner
        let fields = RateLimitFields(
            response.headers, dialect, now: Int(owner?.now().timeIntervalSince1970.rounded() ?? 0))
        let retryAfter = isThrottled ? owner.flatMap { response.retryAfter(at: $0.now) } : nil
        let wait = retryAfter.map { min(max(.zero, $0), .longest).wholeNanoseconds }
        let now = time.now(next.call)
        shelf.quota.withLock { $0.learn(fields, retryAfter: wait, isThrottled: isThrottled, at: now) }
        next.position.record(
            {
                CallEvents.QuotaLearned(
                    key: shelf.key, left: retryAfter == nil ? fields.left : nil,
                    time: retryAfter ?? fields.seconds.map { .seconds($0) }, malformed: fields.malformed)
            }, about: response.request)
    }
}

extension RateLimit: ImpersonalInterceptor {}
