internal import Foundation
internal import Interception
internal import MidstreamCore

extension ResponseCache {
    /// Answers a request, from the store or by asking further in.
    nonisolated(nonsending) func respond(to request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        var response = try await response(to: request, next)
        if options.addsCacheStatus, let status = response.cacheStatus { response.headers.add("Cache-Status", "\(status)") }
        return response
    }

    nonisolated(nonsending) private func response(to request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        let clock = next.call?.owner.clock ?? ContinuousClock()
        guard request.method == .get || request.method == .head else { return try await send(request, next, clock) }
        let demand = CacheDemand(request)
        if let reason = demand.bypass {
            let status = CacheStatus(forward: .bypass, detail: reason)
            request.record(CallEvents.CacheOutcome(status, "isn't for the cache: \(reason)"))
            var response = try await next(request)
            response.cacheStatus = status
            return response
        }
        let fingerprint = if let knownFingerprint { knownFingerprint } else { await self.fingerprint(clock) }
        var lookup = CacheLookup(key: key(of: request, fingerprint), fingerprint: fingerprint)
        let now = options.now()
        switch answerAtOnce(request, lookup, demand, at: now) {
        case .stored(let head, let body, let left):
            var response = made(head.status, of: head, .bytes(body), request, at: now)
            note(&response, .fresh(left), at: next.position)
            return response
        case .nothingStored: break
        case .unknown: lookup = await lookUp(request, lookup, on: clock)
        }
        var (forward, reason) = (CacheStatus.Forward.uriMiss, "nothing stored")
        if !lookup.variants.isEmpty { (forward, reason) = (.varyMiss, "nothing stored for these fields") }
        if let entry = lookup.match {
            let reuse = rules.reuse(entry.head, for: demand, at: options.now())
            let errand = CacheErrand(request, demand, lookup, forward: forward, reason: reason, clock: clock)
            if let response = await reused(entry, reuse, errand, next) { return response }
            (forward, reason) = Self.whyNot(reuse, entry)
        }
        lookup.forgetBodies()
        let errand = CacheErrand(request, demand, lookup, forward: forward, reason: reason, clock: clock)
        if demand.isOnlyIfCached { return unsatisfied(errand) }
        count { $0.misses += 1 }
        if request.method == .head { return try await sendHead(errand, next) }
        return try await fetchOnce(errand, next)
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
        let ttl = Int(max(min(left, Double(CacheControl.longest)), -Double(CacheControl.longest)).rounded(.down))
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
    nonisolated(nonsending) private func fetchOnce(_ errand: CacheErrand, _ next: Next) async throws -> HTTPResponse {
        let demand = errand.demand
        let key = errand.lookup.key
        guard demand.range == nil, !demand.isConditional, demand.use != .reload else {
            return try await fetch(errand, next).response
        }
        try Task.checkCancellation()
        switch board.role(for: key, now: options.now()) {
        case .passes: return try await land(errand, next)
        case .leads(let flight):
            let apart = next.branching(to: next.call?.branch(), due: next.position.due)
            let share = try await flight.lead {
                do {
                    let landing = try await self.fetch(errand, apart, for: flight)
                    self.board.land(key, flight, landing.shared, now: self.options.now())
                    return landing
                } catch {
                    self.board.close(key, flight)
                    throw error
                }
            }
            guard case .own(let response) = share else { return try await land(errand, next) }
            return response
        case .joins(let flight):
            if let response = try await shared(flight, errand) { return response }
            if let response = await storedMeanwhile(errand, next) { return response }
            return try await land(errand, next)
        }
    }

    /// What another's fetch may have stored since this one looked, where that is fresh.
    nonisolated(nonsending) private func storedMeanwhile(_ errand: CacheErrand, _ next: Next) async -> HTTPResponse? {
        var lookup = CacheLookup(key: errand.lookup.key, fingerprint: errand.lookup.fingerprint)
        if case .nothingStored = answerAtOnce(errand.request, lookup, errand.demand, at: options.now()) { return nil }
        lookup = await lookUp(errand.request, lookup, on: errand.clock)
        guard let entry = lookup.match else { return nil }
        let reuse = rules.reuse(entry.head, for: errand.demand, at: options.now())
        return reuse.isFresh ? await reused(entry, reuse, errand, next) : nil
    }

    /// Fetches for one alone.
    nonisolated(nonsending) private func land(_ errand: CacheErrand, _ next: Next) async throws -> HTTPResponse {
        let landing = try await fetch(errand, next)
        if landing.shared != nil { board.noteShareable(errand.lookup.key) }
        return landing.response
    }

    /// What another has asked for, if it may answer this request, too; nil: it goes by itself.
    nonisolated(nonsending) private func shared(_ flight: Flight, _ errand: CacheErrand) async throws -> HTTPResponse? {
        var share = flight.joinAtOnce()
        if share == nil {
            do {
                share = try await flight.join(within: Self.patience, on: errand.clock)
            } catch let error as HTTPError where Self.isItsOwn(error) {
                errand.request.note("waited for another's answer, which didn't come")
                return nil
            }
        }
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
