internal import Foundation
public import Interception
public import MidstreamCore

/// Limits the rate of requests to what you set, and to what the server announces.
///
/// ```swift
/// let client = HTTPClient(baseURL: "https://api.example.com") { RateLimit(perSecond: 10, burst: 20) }
/// ```
///
/// A bucket of tokens fills at the rate up to the burst, and each exchange takes one. Without a token the request waits for its turn, up
/// to `maximumWait` and half of what is left of the attempt's timeout and the call's deadline; when that isn't enough it fails at once with
/// ``HTTPError/Code/rateLimited``, which isn't retried.
///
/// Responses adjust it, also for requests that wait already: by the number of requests left (`RateLimit` and `RateLimit-Policy`,
/// draft-ietf-httpapi-ratelimit-headers-11), and by a 429 with `Retry-After` (RFC 9110 §10.2.3), which takes precedence. Fields that can't
/// be read are ignored, and noted in the trace. Of an answer that a cache on the way has kept, which has an `Age`, nothing counts but what is
/// left of its `Retry-After`.
///
/// Where a server has a quota for each user or the like, its fields name the partition that the request was counted in (`pk`). Limits of a
/// partition hold for requests with the same credentials: secret fields (``HTTPHeaders/isSensitive(_:)``), cookies only where there are no
/// others, secret items of the query, and the identity that further interceptors give (``HTTPInterceptor/identity(of:)``). The
/// partition named last counts, since other criteria of the server are unknown. Requests without a known partition go by
/// the limits without one. At most 100 partitions and 1,000 credentials of a key are remembered.
///
/// It stands inside the cache, whose hits cost nothing.
public final class RateLimit: HTTPInterceptor {
    /// The fields that servers use in place of the standard ones.
    public struct Dialect: Sendable, Hashable {
        let remaining: HTTPHeaders.Name
        let reset: HTTPHeaders.Name
        let resetIsTime: Bool

        /// Fields of other names.
        ///
        /// - Parameters:
        ///   - remaining: Tells how many requests are left.
        ///   - reset: Tells when there are more: by a number, by a duration with units (`6m0s`), or by a date (RFC 3339).
        ///   - resetIsTime: Whether a number is a time in seconds since 1970, read as of ``resetTime``, and not in seconds from now.
        public init(remaining: HTTPHeaders.Name, reset: HTTPHeaders.Name, resetIsTime: Bool) {
            self.remaining = remaining
            self.reset = reset
            self.resetIsTime = resetIsTime
        }

        /// `X-RateLimit-Remaining`, and `X-RateLimit-Reset` as the time in seconds since 1970, by the clock of the response's `Date` where it
        /// has one: GitHub's and many others'.
        public static let resetTime = Dialect(remaining: "X-RateLimit-Remaining", reset: "X-RateLimit-Reset", resetIsTime: true)
        /// `X-RateLimit-Remaining`, and `X-RateLimit-Reset` in seconds from now.
        public static let resetSeconds = Dialect(
            remaining: "X-RateLimit-Remaining", reset: "X-RateLimit-Reset", resetIsTime: false)
    }

    private let perSecond: Double?
    private let burst: Double
    private let maximumWait: Duration
    private let dialect: Dialect?
    private let quota: (any Quota)?
    let table: ScopeTable<QuotaShelf>

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - perSecond: How many requests a second; nil, the default: as many as the server's policy allows, any number without one.
    ///   - burst: How many at once after a rest; those of one second by default, at least 1.
    ///   - maximumWait: How long a request may wait for its turn; 10 s by default.
    ///   - adaptive: Whether a 429 halves the rate of all requests of the key, once for those under way, which then recovers by a tenth a second; false by
    ///     default.
    ///   - dialect: Older fields to read where the standard ones are missing; none by default, since they mean different things to
    ///     different servers.
    ///   - scope: Which requests share a quota; those to one origin by default.
    public convenience init(
        perSecond: Double? = nil, burst: Double? = nil, maximumWait: Duration = .seconds(10), adaptive: Bool = false,
        dialect: Dialect? = nil, scope: ResilienceScope = .origin
    ) {
        self.init(
            perSecond: perSecond, burst: burst, maximumWait: maximumWait, adaptive: adaptive, dialect: dialect, scope: scope,
            quota: nil)
    }

    /// Makes a limit by a quota that is kept elsewhere, and by what servers announce.
    ///
    /// - Parameters:
    ///   - quota: Called for each exchange, after any wait for the server's own limits.
    ///   - maximumWait: How long a request may wait for its turn in all; 10 s by default.
    ///   - dialect: Older fields to read where the standard ones are missing; none by default.
    ///   - scope: Which requests share a quota; those to one origin by default.
    public convenience init(
        quota: some Quota, maximumWait: Duration = .seconds(10), dialect: Dialect? = nil, scope: ResilienceScope = .origin
    ) {
        self.init(
            perSecond: nil, burst: nil, maximumWait: maximumWait, adaptive: false, dialect: dialect, scope: scope, quota: quota)
    }

    private init(
        perSecond: Double?, burst: Double?, maximumWait: Duration, adaptive: Bool, dialect: Dialect?, scope: ResilienceScope,
        quota: (any Quota)?
    ) {
        let burst = max(1, burst ?? perSecond ?? 1)
        self.perSecond = perSecond
        self.burst = burst
        self.maximumWait = maximumWait
        self.dialect = dialect
        self.quota = quota
        table = ScopeTable(scope) { key in
            QuotaShelf(
                key, general: TokenBucket(rate: perSecond, burst: burst, isAdaptive: adaptive), isShared: quota != nil
            ) {
                TokenBucket(rate: nil, burst: 1, isAdaptive: adaptive, ceiling: perSecond)
            }
        }
    }

    /// `.exchange`
    public var stage: InterceptorStage { .exchange }
    /// `.quota`
    public var rank: InterceptorRank { .quota }
    /// It serves all alike, and its waits end in time, unless a quota is asked that is kept elsewhere.
    public var traits: InterceptorTraits { quota == nil ? [.endsInTime, .impersonal] : .impersonal }

    /// Sends the request when it is its turn.
    ///
    /// - Throws: ``HTTPError/Code/rateLimited`` when that would take too long; ``HTTPError/Code/timeout`` or
    ///   ``HTTPError/Code/deadlineExceeded`` when the request's time is over while it waits; what ``Quota/reserve(for:waitingAtMost:)`` throws.
    @inline(__always)
    public func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        let shelf = table.state(for: request, next)
        var start = table.time.now(next)
        if !shelf.general.takeAtOnce(at: start) {
            do { start = try await takeTurns(shelf, request, next) } catch is CancellationError {
                throw next.position.cancelled(phase: .notSent)
            }
        }
        // Somebody else may have logged in when the response is there.
        let identity = next.identity(of: request)
        let response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            giveBack(after: error, of: identity, since: start, shelf, request, next)
            throw error
        }
        learn(from: response, to: request, of: identity, since: start, shelf, next)
        return response
    }

    /// Says what the limit is.
    public func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let wait = "; waits up to \(maximumWait.brief), and half of its time"
        if let quota { return .known("as \(type(of: quota)) and the server say\(wait)") }
        guard let perSecond else { return .known("as many requests as the server says\(wait)") }
        return .known("\(perSecond) requests a second, \(Int64(min(burst, 1e15))) at once\(wait)")
    }

    /// Waits for the server's partitions of the request, then for all of its requests, then for the quota that is kept elsewhere.
    ///
    /// - Returns: When that was over.
    private func takeTurns(
        _ shelf: QuotaShelf, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws -> Int64 {
        let start = table.time.now(next)
        // A hedge that has to wait is of no use. Where demand lasts, all others wait for as long as they may: half of their time is for
        // the answer.
        let most = next.isHedge ? 0 : min(max(.zero, maximumWait), .longest, (next.timeLeft ?? .longest) / 2).wholeNanoseconds
        var taken = Reservation()
        for queue in shelf.partitions(of: request, { next.identity(of: request) }) + [shelf.general] {
            let now = table.time.now(next)
            switch queue.enter(at: now, waitingAtMost: max(0, most - (now &- start))) {
            case .granted: break
            case .waits(let place, let wait):
                next.position.record({ .quotaWait(key: shelf.key, wait: .nanoseconds(wait), isSent: true) }, about: request)
                let tooLong = try await queue.wait(place, on: next.timer) { table.time.now(next) }
                if let tooLong { throw refusal(tooLong, shelf, request, next) }
            case .refused(let wait): throw refusal(wait, shelf, request, next)
            }
            taken.add { [table] in queue.giveBack(at: table.time.now(next)) }
        }
        if let quota {
            let left = max(0, most - (table.time.now(next) &- start))
            try await take(from: quota, waitingAtMost: left, &taken, shelf, request, next)
        }
        taken.spend()
        let end = table.time.now(next)
        request.noteWait(of: end &- start)
        return end
    }

    /// A request that never reached the server isn't among those that this counts. A client without a network would otherwise use up what is
    /// left, and then ask for no more. It counts by the rate all the same: what has come in its place meanwhile may be used already. In a quota
    /// that is kept elsewhere others may use the place of one that this client refuses. One that met a server which is down keeps it, since
    /// nothing else slows those that follow.
    @inline(never)
    private func giveBack(
        after error: any Error, of identity: WireIdentity, since start: Int64, _ shelf: QuotaShelf, _ request: HTTPRequest,
        _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        guard let error = error as? HTTPError, error.phase == .notSent, !error.hasEndedCall else { return }
        let now = table.time.now(next)
        for queue in shelf.partitions(of: request, { identity }) + [shelf.general] {
            queue.giveBackLeft(takenAt: start, at: now)
        }
        // Later, others have waited for what comes after it.
        if error.code.isRefusal || error.isRefusedHere, now &- start < 1_000_000_000 { quota?.startGivingBack(for: shelf.key) }
    }

    private func take(
        from quota: any Quota, waitingAtMost most: Int64, _ taken: inout Reservation, _ shelf: QuotaShelf, _ request: HTTPRequest,
        _ next: Next<HTTPRequest, HTTPResponse>
    ) async throws {
        let (key, start) = (shelf.key, table.time.now(next))
        let decision = try await next.position.withinTimeLeft(phase: .notSent) { position in
            let decision = try await quota.reserve(for: key, waitingAtMost: .nanoseconds(most))
            // Nobody takes it then.
            if case .sends = decision, position.isOver(position.due) { quota.startGivingBack(for: key) }
            return decision
        }
        if let reason = (quota as? any Degradable)?.degradation {
            next.position.record({ .degraded("the quota of \(key)", because: reason) }, about: request)
        }
        switch decision {
        case .refuses(let wait): throw refusal(wait.wholeNanoseconds, shelf, request, next)
        case .sends(let given):
            taken.add { quota.startGivingBack(for: key) }
            let wait = given.wholeNanoseconds
            guard wait > 0 else { return }
            if wait > most - (table.time.now(next) &- start) { throw refusal(wait, shelf, request, next) }
            next.position.record({ .quotaWait(key: key, wait: given, isSent: true) }, about: request)
            try await next.timer.sleep(for: given)
        }
    }

    /// Notes that a request would have to wait for too long, and says so. Not inlined, so that its locals aren't part of the frame that waits.
    @inline(never)
    private func refusal(
        _ wait: Int64, _ shelf: QuotaShelf, _ request: HTTPRequest, _ next: Next<HTTPRequest, HTTPResponse>
    ) -> HTTPError {
        let wait = Duration.nanoseconds(wait)
        next.position.record({ .quotaWait(key: shelf.key, wait: wait, isSent: false) }, about: request)
        let bound =
            wait > maximumWait
            ? "and requests wait at most \(maximumWait.brief), the limit's maximumWait"
            : "which is longer than this one may still wait: maximumWait in all, and half of what is left of its timeout and deadline"
        return HTTPError(
            .rateLimited,
            "The quota of \(shelf.key) is used up for \(wait.brief), \(bound). Send fewer, or later, or let them wait longer.",
            request: request, phase: .notSent)
    }

    private func learn(
        from response: HTTPResponse, to request: HTTPRequest, of identity: WireIdentity, since start: Int64,
        _ shelf: QuotaShelf, _ next: Next<HTTPRequest, HTTPResponse>
    ) {
        let isThrottled = response.status == .tooManyRequests
        // Most responses have no such field.
        guard
            isThrottled || response.headers.contains(.rateLimit) || response.headers.contains(.rateLimitPolicy)
                || dialect.map({ response.headers.contains($0.remaining) }) == true
        else { return }
        let owner = next.call?.owner
        let fields = RateLimitFields(
            response.headers, dialect, now: Int64((owner?.now().timeIntervalSince1970 ?? 0).rounded(), within: 1e15))
        guard isThrottled || !fields.isEmpty else { return }
        let retryAfter = isThrottled ? owner.flatMap { response.retryAfter(at: $0.now) } : nil
        let now = table.time.now(next)
        func learn(_ said: RateLimitFields.Limit, of queue: QuotaQueue, isThrottled: Bool, isPartition: Bool) {
            let retryAfter = isThrottled ? retryAfter : nil
            let wait = retryAfter.map { min(max(.zero, $0), .longest).wholeNanoseconds }
            queue.learn(said, retryAfter: wait, isThrottled: isThrottled, begunAt: start, at: now)
            if !isPartition, let quota, isThrottled || said.left != nil {
                let time = wait.map { .nanoseconds($0) } ?? said.seconds.map { Duration.seconds($0) }
                quota.learn(QuotaReport(isThrottled: isThrottled, left: said.left, time: time), for: shelf.key)
            }
            next.position.record(
                {
                    .quotaLearned(
                        key: shelf.key, left: retryAfter == nil ? said.left : nil,
                        time: retryAfter ?? said.seconds.map { .seconds($0) }, isThrottled: isThrottled,
                        isOfPartition: isPartition, malformed: isPartition ? nil : fields.malformed)
                }, about: response.request)
        }
        let throttled = isThrottled ? fields.usedUp : []
        for (key, said) in fields.partitions {
            learn(said, of: shelf.queue(of: key), isThrottled: throttled.contains(key), isPartition: true)
        }
        // One user's limit mustn't apply to others whose requests look the same from here.
        if !fields.partitions.isEmpty, next.identity(of: request) == identity,
            identity.isCertain || !response.request.hasSecrets(beyond: request)
        {
            shelf.note(fields.partitions.map(\.key), for: request, identity)
        }
        let isGeneral = throttled.contains(nil)
        if fields.partitions.isEmpty || fields.general != .init() || fields.malformed != nil || isGeneral {
            learn(fields.general, of: shelf.general, isThrottled: isGeneral, isPartition: false)
        }
    }
}

extension Quota {
    /// Not in this task, which may be cancelled, nor in the client's background, which takes only so many and ends with it.
    fileprivate func startGivingBack(for key: String) {
        _ = CallersExecutor().startDetached { await self.giveBack(for: key) }
    }
}

/// Tokens that were taken for a request which isn't sent yet. They are given back unless they are spent.
private struct Reservation: ~Copyable {
    private var giveBacks: [@Sendable () -> Void] = []

    mutating func add(_ giveBack: @escaping @Sendable () -> Void) { giveBacks.append(giveBack) }

    consuming func spend() { giveBacks = [] }

    deinit { for giveBack in giveBacks { giveBack() } }
}
