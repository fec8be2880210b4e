internal import Foundation
internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

extension ResponseCache {
    /// Fetches for all who miss the same at the same time.
    nonisolated(nonsending) func fetchOnce(
        _ miss: CacheMiss, lookingSince start: Date?, _ next: Next
    ) async throws -> HTTPResponse {
        let role = try role(of: miss, lookingSince: start)
        guard case .leads(let fetch)? = role else { return try await follow(role, miss, next) }
        return try await lead(fetch, miss, next)
    }

    /// The part of a request in a fetch; nil: others want something else.
    @inline(never)
    private func role(of miss: CacheMiss, lookingSince start: Date?) throws -> CollapsedRequests.Role? {
        let demand = miss.demand
        guard miss.request.method == .get, demand.range == nil, !demand.isConditional, demand.use != .reload else { return nil }
        try Task.checkCancellation()
        return collapsed.role(for: miss.lookup.key, lookingSince: start)
    }

    /// Sends the request for all. Another's request, sent before or after it, may be answered first.
    nonisolated(nonsending) private func lead(_ fetch: SharedFetch, _ miss: CacheMiss, _ next: Next) async throws -> HTTPResponse
    {
        let ending: SharedFetch.Ending
        do {
            ending = try await fetch.lead(attempt(miss, next, for: fetch))
        } catch {
            return try await staleResponse(insteadOf: error, miss)
        }
        switch ending {
        case .own(let response): return response
        case .shared(let head, let body):
            if let response = answer(miss, head, body, of: fetch) { return response }
        case .nothing, .leads, .isLate: break
        }
        return try await fetchAlone(miss, next)
    }

    /// One request of a fetch. What others read as well isn't given up with the call that sends it, but its share.
    private func attempt(
        _ miss: CacheMiss, _ next: Next, for fetch: SharedFetch
    ) -> @Sendable () async throws -> SharedFetch.Outcome {
        let apart = next.branchApart()
        return {
            do {
                let outcome = try await self.fetch(miss, apart, for: fetch)
                if outcome.shared?.isArriving == true {
                    next.call?.opened(outcome.response.body)
                } else {
                    next.call?.adopt(apart.call)
                }
                return outcome
            } catch {
                next.call?.adopt(apart.call)
                throw error
            }
        }
    }

    @inline(never)
    nonisolated(nonsending) private func follow(
        _ role: CollapsedRequests.Role?, _ miss: CacheMiss, _ next: Next
    ) async throws -> HTTPResponse {
        switch role {
        case .joins(let fetch)?: return try await join(fetch, miss, next)
        case .looksAgain?:
            if let response = await storedMeanwhile(miss, next) { return response }
            // Once is enough.
            return try await fetchOnce(miss, lookingSince: nil, next)
        case .passes?, .leads?: return try await fetchAlone(miss, next)
        case nil: return try await miss.request.method == .head ? sendHead(miss, next) : fetch(miss, next).response
        }
    }

    /// Waits for another's request.
    nonisolated(nonsending) private func join(
        _ fetch: SharedFetch, _ miss: CacheMiss, _ next: Next
    ) async throws -> HTTPResponse {
        let ending: SharedFetch.Ending
        do {
            ending = try await fetch.join(for: options.patience, timeLeft: next.position.timeLeft, on: miss.clock)
        } catch is CancellationError {
            return try await staleResponse(insteadOf: next.position.cancelled(phase: .notSent), miss)
        } catch {
            return try await staleResponse(insteadOf: error, miss)
        }
        switch ending {
        case .shared(let head, let body):
            if let response = answer(miss, head, body, of: fetch) { return response }
        case .own, .nothing: break
        case .leads:
            miss.request.note("waited for another's answer, which didn't come")
            return try await lead(fetch, miss, next)
        case .isLate: return try await staleResponse(insteadOf: next.position.overdue(phase: .notSent), miss)
        }
        if let response = await storedMeanwhile(miss, next) { return response }
        return try await fetchAlone(miss, next)
    }

    /// What another's fetch has stored since the lookup, if it is fresh.
    @inline(never)
    nonisolated(nonsending) private func storedMeanwhile(_ miss: CacheMiss, _ next: Next) async -> HTTPResponse? {
        let (request, now) = (miss.request, options.now())
        let lookup = await lookUp(request, miss.lookup.identity, on: miss.clock)
        let decision = rules.decide(request.method, miss.demand, lookup, at: now)
        guard case .fresh(let answer) = decision,
            var response = await response(answer, request, on: miss.clock, at: now)
        else { return nil }
        // Its first lookup has counted as one.
        count { $0.misses -= 1 }
        note(&response, answer, decision, at: next.position)
        return response
    }

    @inline(never)
    nonisolated(nonsending) private func fetchAlone(_ miss: CacheMiss, _ next: Next) async throws -> HTTPResponse {
        let outcome = try await fetch(miss, next)
        if outcome.shared != nil { collapsed.noteShareable(miss.lookup.key) }
        return outcome.response
    }

    /// The response that another's fetch gives, if it fits the request.
    @inline(never)
    private func answer(_ miss: CacheMiss, _ head: StoredHead, _ body: HTTPBody, of fetch: SharedFetch) -> HTTPResponse? {
        let (request, now) = (miss.request, options.now())
        guard head.selecting.match(request.headers, response: head.fields, fingerprint: miss.lookup.fingerprint),
            rules.reuse(head, for: miss.demand, at: now).isFresh
        else {
            body.close()
            return nil
        }
        count { $0.collapsed += 1 }
        var response = made(head.status, of: head, body, request, at: now)
        if var news = fetch.takeNews() {
            // What isn't kept was for the one who asked.
            news.removeAll { !head.fields.contains($0) }
            response.confirmation = news
        }
        let status = CacheStatus(forward: miss.reason.forward, ttl: ttl(of: head), isCollapsed: true)
        request.record(
            CallEvent.cacheOutcome(status, "answered by what another request asked for, fresh for \(ttl(of: head)) s"))
        response.cacheStatus = status
        return response
    }
}
