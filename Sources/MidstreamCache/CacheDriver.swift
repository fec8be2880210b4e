internal import Foundation
internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

extension ResponseCache {
    typealias Next = Interception.Next<HTTPRequest, HTTPResponse>

    /// The next step of a request.
    private enum Step {
        case answer(HTTPResponse)
        /// The store's salt is waited for.
        case salt
        /// The store is waited for: for the entries that the inquiry needs, or the body of an answer.
        indirect case wait(CacheInquiry, bodyOf: CacheDecision?)
        /// The server is asked.
        case miss(CacheMiss, since: Date)
        /// The request isn't for caches.
        case bypass(String)
        /// The method is none that a cache answers.
        case write
    }

    /// Answers a request, from the store or from further in.
    ///
    /// The steps themselves are synchronous, so a store that answers at once is never waited for, and their frames are gone while
    /// the server is.
    nonisolated(nonsending) func respond(to request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        var step = firstStep(request, next, known)
        if case .salt = step {
            let fingerprint = await fingerprint(next.clock)
            var known = known
            known.fingerprint = fingerprint
            step = firstStep(request, next, known)
        }
        if case .wait(let inquiry, let decision) = step { step = await waited(for: decision, inquiry, next) }
        var response: HTTPResponse
        switch step {
        case .answer(let stored): response = stored
        case .miss(let miss, let start):
            do { response = try await fetchOnce(miss, lookingSince: start, next) } catch {
                noteUnanswered(miss)
                throw error
            }
        case .bypass(let reason): response = try await bypass(request, reason, next)
        case .write, .salt, .wait: response = try await send(request, next, next.clock)
        }
        if options.addsCacheStatus, let status = response.cacheStatus { response.headers.add("Cache-Status", "\(status)") }
        return response
    }

    @inline(never)
    private func firstStep(_ request: HTTPRequest, _ next: Next, _ known: CacheRemovals.Knowledge) -> Step {
        let demand = CacheDemand(request)
        if let reason = demand.bypass {
            if demand.isOnlyIfCached { return .answer(refused(request, reason)) }
            return request.method == .get || request.method == .head ? .bypass(reason) : .write
        }
        guard let fingerprint = known.fingerprint else { return .salt }
        var inquiry = inquiry(request, demand, next.identity(of: request), fingerprint, known)
        return step(of: &inquiry, next)
    }

    /// The step after those for which the store has to be waited for.
    @inline(never)
    nonisolated(nonsending) private func waited(
        for decision: CacheDecision?, _ inquiry: CacheInquiry, _ next: Next
    ) async -> Step {
        var (inquiry, decision) = (inquiry, decision)
        let (request, clock) = (inquiry.request, next.clock)
        while true {
            if let decision, let answer = decision.answer {
                if let body = await body(of: answer, request, clock) {
                    return .answer(answered(by: answer, decision, body, inquiry, next))
                }
                inquiry.lookup.forgetMatch()
            } else if let key = inquiry.need {
                inquiry.take(await entries(for: key, request, clock), searches)
            }
            let step = step(of: &inquiry, next)
            guard case .wait(_, let another) = step else { return step }
            decision = another
        }
    }

    /// Goes as far as the store answers at once.
    private func step(of inquiry: inout CacheInquiry, _ next: Next) -> Step {
        while let key = inquiry.need {
            guard let entries = store.entriesNow(for: key) else { return .wait(inquiry, bodyOf: nil) }
            inquiry.take(entries, searches)
        }
        let request = inquiry.request
        let decision = rules.decide(request.method, inquiry.demand, inquiry.lookup, at: inquiry.start)
        switch decision {
        case .fresh(let answer), .stale(let answer), .staleWhileRevalidate(let answer):
            guard let body = bodyNow(of: answer) else { return .wait(inquiry, bodyOf: decision) }
            return .answer(answered(by: answer, decision, body, inquiry, next))
        case .refuse(let reason): return .answer(refused(request, reason.text))
        case .fetch(let reason), .validate(let reason, _), .complete(let reason, _):
            count { $0.misses += 1 }
            let miss = CacheMiss(request, inquiry.demand, inquiry.lookup.withoutBodies, reason, decision, on: next.clock)
            return .miss(miss, since: inquiry.start)
        }
    }

    private func answered(
        by answer: StoredAnswer, _ decision: CacheDecision, _ body: HTTPBody, _ inquiry: CacheInquiry, _ next: Next
    ) -> HTTPResponse {
        var response = made(by: answer, body, inquiry.request, at: inquiry.start)
        guard case .staleWhileRevalidate = decision, let call = next.call else {
            note(&response, answer, decision, at: next.position)
            return response
        }
        // Noted before it begins, since its own outcome comes after that.
        let (isValidated, place) = turnToValidate(answer.entry, for: call)
        note(&response, answer, isValidated ? decision : .stale(answer), at: next.position)
        if !isValidated { inquiry.request.note("isn't validated, since as many others are as may be") }
        if let place {
            validateInBackground(answer.entry, inquiry.request, inquiry.lookup, next, for: call, at: place, on: next.clock)
        }
        return response
    }

    /// Notes that a response is a stored one.
    func note(
        _ response: inout HTTPResponse, _ answer: StoredAnswer, _ decision: CacheDecision, at position: ChainPosition
    ) {
        let ttl = Self.ttl(answer.left)
        count { statistics in
            statistics.hits += 1
            if case .fresh = decision { return }
            statistics.stale += 1
        }
        let status = CacheStatus(isHit: true, ttl: ttl)
        response.cacheStatus = status
        position.record(
            { CallEvent.cacheOutcome(status, "answered from \(store.name), \(decision.freshness(ttl))", from: store.name) },
            about: response.request)
    }

    /// The 504 to a request that mustn't be sent.
    private func refused(_ request: HTTPRequest, _ reason: String) -> HTTPResponse {
        request.note("\(reason), and the request mustn't go further")
        var response = HTTPResponse(status: 504, headers: [.contentLength: "0"], request: request)
        response.isFromCache = true
        response.isMade = true
        response.cacheStatus = CacheStatus(detail: "only-if-cached")
        return response
    }

    @inline(never)
    nonisolated(nonsending) private func bypass(
        _ request: HTTPRequest, _ reason: String, _ next: Next
    ) async throws -> HTTPResponse {
        let status = CacheStatus(forward: .bypass, detail: reason)
        request.record(.cacheOutcome(status, "isn't for the cache: \(reason)"))
        var response = try await next(request)
        await clear(after: request, response, on: next.clock)
        response.cacheStatus = status
        return response
    }
}

extension CacheDecision {
    /// The trace's words for an answer that is fresh for so many seconds, or stale for as many less.
    fileprivate func freshness(_ ttl: Int) -> String {
        switch self {
        case .fresh: "fresh for \(ttl) s"
        case .staleWhileRevalidate: "stale for \(-ttl) s; validated meanwhile"
        default: "stale for \(-ttl) s, which is allowed"
        }
    }
}
