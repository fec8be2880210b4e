internal import Foundation
internal import Interception
internal import MidstreamCore

extension ResponseCache {
    /// Answers a request, from the store or by asking further in.
    ///
    /// What is done without waiting is done in functions of its own: an asynchronous one keeps all that it has made, as long as it waits.
    nonisolated(nonsending) func respond(to request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        let beginning = begin(request, next, knownFingerprint)
        var response =
            if case .misses(let errand, let start) = beginning {
                try await fetchOnce(errand, lookingSince: start, next)
            } else if case .answers(let stored) = beginning {
                stored
            } else {
                try await respond(to: request, beginning, next)
            }
        if options.addsCacheStatus { Self.addStatus(to: &response) }
        return response
    }

    /// The same for what isn't as simple.
    @inline(never)
    nonisolated(nonsending) private func respond(
        to request: HTTPRequest, _ beginning: Beginning, _ next: Next
    ) async throws -> HTTPResponse {
        switch beginning {
        case .answers(let stored): return stored
        case .misses(let errand, let start): return try await fetchOnce(errand, lookingSince: start, next)
        case .isUnknown(let errand): return try await lookedUp(errand, next)
        case .bypasses(let reason): return try await bypassed(request, reason, next)
        case .isUnsafe: return try await send(request, next, Self.clock(of: next))
        case .isUnsalted:
            let fingerprint = await fingerprint(Self.clock(of: next))
            return try await respond(to: request, begin(request, next, fingerprint), next)
        }
    }

    private static func addStatus(to response: inout HTTPResponse) {
        if let status = response.cacheStatus { response.headers.add("Cache-Status", "\(status)") }
    }

    private static func clock(of next: Next) -> any Clock<Duration> { next.call?.owner.clock ?? ContinuousClock() }

    /// What is known of a request before anything is waited for.
    private enum Beginning {
        case answers(HTTPResponse)
        /// Nothing was stored at a time, and it may go further.
        case misses(CacheErrand, Date)
        /// Of what is stored no more is known than the key.
        case isUnknown(CacheErrand)
        /// It isn't for the cache.
        case bypasses(String)
        /// Its method is none that a cache answers.
        case isUnsafe
        /// The store hasn't said what secret values are hashed with.
        case isUnsalted
    }

    @inline(never)
    private func begin(_ request: HTTPRequest, _ next: Next, _ fingerprint: Fingerprint?) -> Beginning {
        guard request.method == .get || request.method == .head else { return .isUnsafe }
        let demand = CacheDemand(request)
        if let reason = demand.bypass { return .bypasses(reason) }
        guard let fingerprint else { return .isUnsalted }
        let lookup = begunLookup(of: request, fingerprint, next.identity(of: request))
        let now = options.now()
        switch answerAtOnce(request, lookup, demand, at: now) {
        case .stored(let head, let body, let left):
            var response = made(head.status, of: head, .bytes(body), request, at: now)
            note(&response, .fresh(left), at: next.position)
            return .answers(response)
        case .nothingStored:
            let errand = CacheErrand(
                request, demand, lookup, forward: .uriMiss, reason: "nothing stored", clock: Self.clock(of: next))
            return unanswered(errand).map(Beginning.answers) ?? .misses(errand, now)
        case .unknown:
            return .isUnknown(CacheErrand(request, demand, lookup, forward: .uriMiss, reason: "", clock: Self.clock(of: next)))
        }
    }

    @inline(never)
    nonisolated(nonsending) private func bypassed(
        _ request: HTTPRequest, _ reason: String, _ next: Next
    ) async throws -> HTTPResponse {
        let status = CacheStatus(forward: .bypass, detail: reason)
        request.record(CallEvents.CacheOutcome(status, "isn't for the cache: \(reason)"))
        var response = try await next(request)
        response.cacheStatus = status
        return response
    }

    /// Answers a request by what a store has of it that has to be asked.
    ///
    /// - Parameter begun: Of which no more is known than the key.
    @inline(never)
    nonisolated(nonsending) private func lookedUp(_ begun: CacheErrand, _ next: Next) async throws -> HTTPResponse {
        let (request, demand, start) = (begun.request, begun.demand, options.now())
        var lookup = await lookUp(request, begun.lookup, on: begun.clock)
        var (forward, reason) = (CacheStatus.Forward.uriMiss, "nothing stored")
        if !lookup.variants.isEmpty { (forward, reason) = (.varyMiss, "nothing stored for these fields") }
        if let entry = lookup.match {
            let reuse = rules.reuse(entry.head, for: demand, at: options.now())
            let errand = CacheErrand(request, demand, lookup, forward: forward, reason: reason, clock: begun.clock)
            if let response = await reused(entry, reuse, errand, next) { return response }
            (forward, reason) = Self.whyNot(reuse, entry)
        }
        lookup.forgetBodies()
        let errand = CacheErrand(request, demand, lookup, forward: forward, reason: reason, clock: begun.clock)
        if let response = unanswered(errand) { return response }
        return try await fetchOnce(errand, lookingSince: start, next)
    }

    /// Counts a request that nothing stored answers. Returns the response to one that mayn't go further.
    private func unanswered(_ errand: CacheErrand) -> HTTPResponse? {
        if errand.demand.isOnlyIfCached { return unsatisfied(errand) }
        count { $0.misses += 1 }
        return nil
    }

    /// Why what is stored doesn't answer.
    private static func whyNot(_ reuse: Reuse, _ entry: CacheEntry) -> (CacheStatus.Forward, String) {
        switch reuse {
        case .validate(let reason):
            let isRequests = reason == .demanded || reason == .tooOld || reason == .notFreshEnough
            return (isRequests ? .request : .stale, reason.rawValue)
        default: return entry.isWhole ? (.uriMiss, "what was stored is gone") : (.partial, "only a part is stored")
        }
    }

    /// The response that an entry gives without the server; nil when it gives none.
    nonisolated(nonsending) private func reused(
        _ entry: CacheEntry, _ reuse: Reuse, _ errand: CacheErrand, _ next: Next
    ) async -> HTTPResponse? {
        if case .validate = reuse { return nil }
        guard var response = await answer(errand.request, with: entry, errand.demand, on: errand.clock) else { return nil }
        if case .staleWhileRevalidating = reuse { validateInBackground(entry, errand, next) }
        note(&response, reuse, at: next.position)
        return response
    }

    /// Notes that a response is a stored one.
    private func note(_ response: inout HTTPResponse, _ reuse: Reuse, at position: ChainPosition) {
        let left =
            switch reuse {
            case .fresh(let seconds): seconds
            case .stale(let seconds), .staleWhileRevalidating(let seconds): -seconds
            case .validate: 0.0
            }
        let ttl = Self.ttl(left)
        count { statistics in
            statistics.hits += 1
            if !reuse.isFresh { statistics.stale += 1 }
        }
        let status = CacheStatus(isHit: true, ttl: ttl)
        response.cacheStatus = status
        position.record(
            { CallEvents.CacheOutcome(status, "answered from \(store.name), \(reuse.freshness(ttl))") }, about: response.request)
    }

    /// The made response to a request that mayn't go further (RFC 9111 §5.2.1.7).
    private func unsatisfied(_ errand: CacheErrand) -> HTTPResponse {
        errand.request.note("\(errand.reason), and the request mayn't go further")
        var response = HTTPResponse(status: 504, headers: [.contentLength: "0"], request: errand.request)
        response.isFromCache = true
        response.isMade = true
        response.cacheStatus = CacheStatus(detail: "only-if-cached")
        return response
    }

    /// Fetches for all who miss the same at the same time.
    nonisolated(nonsending) private func fetchOnce(
        _ errand: CacheErrand, lookingSince start: Date?, _ next: Next
    ) async throws -> HTTPResponse {
        let role = try role(of: errand, lookingSince: start)
        guard case .leads(let flight)? = role else { return try await follow(role, errand, next) }
        if case .own(let response) = try await flight.lead(fetching(errand, next, for: flight)) { return response }
        return try await land(errand, next)
    }

    /// What a request does; nil: it has nothing to do with others, who want something else.
    @inline(never)
    private func role(of errand: CacheErrand, lookingSince start: Date?) throws -> FetchBoard.Role? {
        let demand = errand.demand
        guard errand.request.method == .get, demand.range == nil, !demand.isConditional, demand.use != .reload else { return nil }
        try Task.checkCancellation()
        return board.role(for: errand.lookup.key, lookingSince: start, now: options.now(), store.removals)
    }

    @inline(never)
    nonisolated(nonsending) private func follow(
        _ role: FetchBoard.Role?, _ errand: CacheErrand, _ next: Next
    ) async throws -> HTTPResponse {
        switch role {
        case .joins(let flight)?: return try await joined(flight, errand, next)
        case .looksAgain?:
            if !hasNothingStored(errand), let response = await storedMeanwhile(errand, next) { return response }
            // Once is enough.
            return try await fetchOnce(errand, lookingSince: nil, next)
        case .passes?, .leads?: return try await land(errand, next)
        case nil: return try await errand.request.method == .head ? sendHead(errand, next) : fetch(errand, next).response
        }
    }

    @inline(never)
    nonisolated(nonsending) private func joined(
        _ flight: Flight, _ errand: CacheErrand, _ next: Next
    ) async throws -> HTTPResponse {
        if let response = try await shared(flight, errand, next) { return response }
        if !hasNothingStored(errand), let response = await storedMeanwhile(errand, next) { return response }
        return try await land(errand, next)
    }

    /// The fetch that a flight is.
    private func fetching(
        _ errand: CacheErrand, _ next: Next, for flight: Flight
    ) -> @Sendable () async throws -> Flight.Landing {
        let apart = next.branching(to: next.call?.branch(), due: next.position.due)
        let key = errand.lookup.key
        return {
            do {
                let landing = try await self.fetch(errand, apart, for: flight)
                self.board.land(key, flight, landing.shared, now: self.options.now())
                return landing
            } catch {
                self.board.close(key, flight)
                throw error
            }
        }
    }

    private func hasNothingStored(_ errand: CacheErrand) -> Bool {
        if case .nothingStored = answerAtOnce(errand.request, errand.lookup, errand.demand, at: options.now()) { return true }
        return false
    }

    /// What another's fetch may have stored since this one looked, where that is fresh.
    @inline(never)
    nonisolated(nonsending) private func storedMeanwhile(_ errand: CacheErrand, _ next: Next) async -> HTTPResponse? {
        let lookup = await lookUp(errand.request, errand.lookup, on: errand.clock)
        guard let entry = lookup.match else { return nil }
        let reuse = rules.reuse(entry.head, for: errand.demand, at: options.now())
        return reuse.isFresh ? await reused(entry, reuse, errand, next) : nil
    }

    /// Fetches for one alone.
    @inline(never)
    nonisolated(nonsending) private func land(_ errand: CacheErrand, _ next: Next) async throws -> HTTPResponse {
        let landing = try await fetch(errand, next)
        if landing.shared != nil { board.noteShareable(errand.lookup.key) }
        return landing.response
    }

    /// What another has asked for, if it may answer this request, too; nil: it goes by itself.
    @inline(never)
    nonisolated(nonsending) private func shared(
        _ flight: Flight, _ errand: CacheErrand, _ next: Next
    ) async throws -> HTTPResponse? {
        if let share = flight.joinAtOnce() { return answer(errand, by: share) }
        do {
            return answer(errand, by: try await join(flight, errand, within: next.position.timeLeft))
        } catch {
            guard let error = error as? HTTPError, Self.isItsOwn(error) else { throw error }
            errand.request.note("waited for another's answer, which didn't come")
            guard let left = next.position.timeLeft, left <= .zero else { return nil }
            return try await landing(insteadOf: HTTPError.timedOut(phase: .notSent), errand).response
        }
    }

    /// Waits for a flight's head, for no longer than the attempt may take.
    nonisolated(nonsending) private func join(
        _ flight: Flight, _ errand: CacheErrand, within left: Duration?
    ) async throws -> Flight.Share? {
        guard let left, left < Self.patience else { return try await flight.join(within: Self.patience, on: errand.clock) }
        return try await TimeLimit(left, on: errand.clock).run(error: { _ in .timedOut(phase: .notSent) }) {
            try await flight.join(within: Self.patience, on: errand.clock)
        }
    }

    @inline(never)
    private func answer(_ errand: CacheErrand, by share: Flight.Share?) -> HTTPResponse? {
        guard case .shared(let head, let body)? = share else { return nil }
        let request = errand.request
        guard head.selecting.match(request.headers, response: head.fields, fingerprint: errand.lookup.fingerprint),
            rules.reuse(head, for: errand.demand, at: options.now()).isFresh
        else {
            body.close()
            return nil
        }
        count { $0.collapsed += 1 }
        var response = made(head.status, of: head, body, request)
        var status = CacheStatus(forward: errand.forward, ttl: ttl(of: head))
        status.isCollapsed = true
        request.record(
            CallEvents.CacheOutcome(status, "answered by what another request asked for, fresh for \(ttl(of: head)) s"))
        response.cacheStatus = status
        return response
    }

    /// Whether an error is that of one caller's limits, which others don't share.
    private static func isItsOwn(_ error: HTTPError) -> Bool {
        switch error.code {
        case .timeout, .deadlineExceeded, .bodyTooLarge: true
        default: false
        }
    }
}

extension Reuse {
    /// What is said of an answer that is fresh for so many seconds, or stale for as many less.
    fileprivate func freshness(_ ttl: Int) -> String {
        switch self {
        case .fresh: "fresh for \(ttl) s"
        case .staleWhileRevalidating: "stale for \(-ttl) s; validated meanwhile"
        default: "stale for \(-ttl) s, as the request allows"
        }
    }
}
