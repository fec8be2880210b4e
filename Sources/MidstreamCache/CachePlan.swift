internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

extension ResponseCache {
    /// Says what would be done, and doesn't count as a request.
    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        let demand = CacheDemand(request)
        if let reason = demand.bypass {
            return demand.isOnlyIfCached ? .answers("\(reason), would answer 504") : .known("not for the cache: \(reason)")
        }
        let identity = ChainPosition.current?.call?.rehearsal?.identity(request) ?? WireIdentity()
        let lookup = await lookUp(request, identity, on: ContinuousClock())
        let decision = rules.decide(request.method, demand, lookup, at: options.now())
        request = decision.conditional(request)
        switch decision {
        case .fresh(let answer): return .answers("fresh for \(Self.ttl(answer.left)) s, would answer from \(store.name)")
        case .stale(let answer): return .answers("stale for \(-Self.ttl(answer.left)) s, would answer from \(store.name)")
        case .staleWhileRevalidate(let answer):
            return .answers(
                "stale for \(-Self.ttl(answer.left)) s, would answer from \(store.name) and be validated meanwhile")
        case .refuse(let reason):
            return .answers("\(lookup.match == nil ? reason.text : "nothing stored that may answer"), would answer 504")
        case .validate(let reason, _): return .known("\(reason.text), asks whether it is still right")
        case .complete(let reason, _): return .known(reason.text)
        case .fetch(let reason): return .known(lookup.match == nil ? reason.text : "\(reason.text), and can't be validated")
        }
    }
}
