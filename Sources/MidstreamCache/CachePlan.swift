internal import Foundation
internal import Interception
internal import MidstreamCore

extension ResponseCache {
    /// Says what would be done, and doesn't count as a request.
    func plan(_ request: inout HTTPRequest) async throws -> RequestPlan {
        guard request.method == .get || request.method == .head else { return .known("answers no \(request.method)") }
        let demand = CacheDemand(request)
        if let reason = demand.bypass { return .known("not for the cache: \(reason)") }
        let identity = ChainPosition.current?.call?.rehearsal?.identity(of: request) ?? WireIdentity()
        let lookup = await lookUp(request, identity, on: ContinuousClock())
        guard let entry = lookup.match else {
            if demand.isOnlyIfCached { return .answers("nothing stored, would answer 504") }
            return .known(lookup.variants.isEmpty ? "nothing stored" : "nothing stored for these fields")
        }
        let reuse = rules.reuse(entry.head, for: demand, at: options.now())
        switch reuse {
        case .fresh(let left) where isThere(entry, demand):
            return .answers("fresh for \(Int(left)) s, would answer from \(store.name)")
        case .stale(let staleness) where isThere(entry, demand):
            return .answers("stale for \(Int(staleness)) s, would answer from \(store.name)")
        case .staleWhileRevalidating(let staleness) where isThere(entry, demand):
            return .answers("stale for \(Int(staleness)) s, would answer from \(store.name) and be validated meanwhile")
        default: break
        }
        if demand.isOnlyIfCached { return .answers("nothing stored that may answer, would answer 504") }
        let errand = CacheErrand(request, demand, lookup, forward: .stale, reason: "", clock: ContinuousClock())
        let validation = CacheValidation(errand, rules)
        if request.method == .get { request = validation.request }
        guard case .validate(let reason) = reuse else { return .known("only a part is stored") }
        return .known(
            "\(reason.rawValue), " + (validation.isOurs ? "asks whether it is still right" : "and can't be validated"))
    }

    /// Whether the bytes that a request wants are stored.
    private func isThere(_ entry: CacheEntry, _ demand: CacheDemand) -> Bool {
        guard let range = demand.range, range != .other, let length = entry.length, let wanted = range.resolved(length: length)
        else { return entry.isWhole }
        return entry.parts.contains(wanted)
    }
}
