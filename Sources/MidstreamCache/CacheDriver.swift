internal import Foundation
internal import Interception
internal import MidstreamCore

extension ResponseCache {
    typealias Next = Interception.Next<HTTPRequest, HTTPResponse>

    /// What is left to do for a request when the store has been asked.
    private enum Step {
        case answered(HTTPResponse)
        /// The server is asked, by a lookup that began at a time.
        case missed(CacheMiss, Date)
        /// The request isn't for caches.
        case bypassed(String)
        /// The method is none that a cache answers.
        case unsafe
    }

    /// Answers a request, from the store or from further in.
    nonisolated(nonsending) func respond(to request: HTTPRequest, _ next: Next) async throws -> HTTPResponse {
        var response =
            switch await step(request, next) {
            case .answered(let stored): stored
            case .missed(let miss, let start): try await fetchOnce(miss, lookingSince: start, next)
            case .bypassed(let reason): try await bypass(request, reason, next)
            case .unsafe: try await send(request, next, Self.clock(of: next))
            }
        if options.addsCacheStatus, let status = response.cacheStatus { response.headers.add("Cache-Status", "\(status)") }
        return response
    }

    private static func clock(of next: Next) -> any Clock<Duration> { next.call?.owner.clock ?? ContinuousClock() }

    /// Looks for what is stored, and does what is decided by it. An entry whose bytes can't be read is left out of the next decision.
    ///
    /// A function of its own, so that its frame is gone while the server is waited for.
    @inline(never)
    nonisolated(nonsending) private func step(_ request: HTTPRequest, _ next: Next) async -> Step {
        guard request.method == .get || request.method == .head else { return .unsafe }
        let demand = CacheDemand(request)
        if let reason = demand.bypass { return .bypassed(reason) }
        let (clock, start) = (Self.clock(of: next), options.now())
        var lookup = await lookUp(request, next.identity(of: request), on: clock)
        while true {
            let decision = rules.decide(request.method, demand, lookup, at: start)
            switch decision {
            case .fresh(let answer), .stale(let answer), .staleWhileRevalidate(let answer):
                guard var response = await response(answer, request, on: clock, at: start) else {
                    lookup.forgetMatch()
                    continue
                }
                if case .staleWhileRevalidate = decision { validateInBackground(answer.entry, request, lookup, next, on: clock) }
                note(&response, answer, decision, at: next.position)
                return .answered(response)
            case .refuse(let reason): return .answered(refused(request, reason))
            case .fetch(let reason), .validate(let reason, _), .complete(let reason, _):
                count { $0.misses += 1 }
                lookup.forgetBodies()
                return .missed(CacheMiss(request, demand, lookup, reason, decision, on: clock), start)
            }
        }
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
            { CallEvent.cacheOutcome(status, "answered from \(store.name), \(decision.freshness(ttl))") },
            about: response.request)
    }

    /// The 504 to a request that mustn't be sent.
    private func refused(_ request: HTTPRequest, _ reason: MissReason) -> HTTPResponse {
        request.note("\(reason.text), and the request mayn't go further")
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
        default: "stale for \(-ttl) s, as the request allows"
        }
    }
}
