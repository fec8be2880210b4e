internal import Interception
internal import MidstreamCore
internal import MidstreamResilience

/// What a member does about a quota while the store doesn't answer.
public enum QuotaWhenAlone: Sendable, Hashable {
    /// It takes its share: the rate, divided by how many members there were when that was last known.
    case share
    /// It sends nothing.
    case failClosed
}

/// A quota of all members, and this member's part of it while the store doesn't answer.
final class FleetQuota: Quota, Degradable {
    private let core: FleetCore
    private let name: String
    private let rate: QuotaRate
    private let floor: Double
    private let whenAlone: QuotaWhenAlone
    private let longest: Duration

    private static let mostKeys = 10_000

    init(
        _ core: FleetCore, _ name: String, perSecond: Double, burst: Double?, whenAlone: QuotaWhenAlone, floor: Double?,
        longest: Duration
    ) {
        let perSecond = min(max(1e-6, perSecond), 1e6)
        self.core = core
        self.name = name
        rate = QuotaRate(interval: 1e6 / perSecond, burst: min(max(1, burst ?? perSecond), 1e9))
        self.floor = min(max(1e-6, floor ?? perSecond / 100), perSecond)
        self.whenAlone = whenAlone
        self.longest = longest
    }

    var degradation: String? { core.degradation }

    func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision {
        let most = max(.zero, min(longest, self.longest))
        let name = withShare(of: key) { _, _ in }.name
        if case .success(let decision) = await core.store.reserve(name, rate, waitingAtMost: most) {
            if case .sends = decision { _ = withShare(of: key) { $0.note(at: $1) } }
            return decision
        }
        guard whenAlone == .share else { return .refuses(wait: .seconds(1)) }
        return withShare(of: key) { $0.reserve(at: $1, waitingAtMost: most) }.value
    }

    func giveBack(for key: String) async {
        let (name, isTold) = withShare(of: key) { $0.giveBack(at: $1) }
        if isTold { core.store.giveBack(name, rate) }
    }

    func learn(_ said: QuotaReport, for key: String) {
        // What leaves some is no news to most members, and a write for each response.
        guard said.isThrottled || said.left == 0, let time = said.time ?? (said.isThrottled ? .seconds(1) : nil) else { return }
        let wait = min(max(.zero, time), .seconds(86_400))
        core.store.drain(withShare(of: key) { $0.drain(at: $1, wait: wait) }.name, rate, wait: wait)
    }

    /// - Returns: The quota's name in the store, too.
    private func withShare<Value>(
        of key: String, _ body: (inout LocalShare, _ now: Double) -> Value
    ) -> (name: String, value: Value) {
        let members = Double(core.members)
        let now = Double(core.stopwatch.elapsedNanoseconds) / 1_000
        let place = LocalShare.Place(quota: name, key: key)
        return core.shares.withLock { shares in
            if shares.count >= Self.mostKeys, shares[place] == nil {
                shares = shares.filter { $0.value.isTaken(at: now) }
                // Rather than to look through them again for each new one.
                if shares.count > Self.mostKeys / 2 { shares = [:] }
            }
            var share = shares[place] ?? LocalShare(core.names.quota(name, key), at: now)
            share.interval = min(rate.interval * members, 1e6 / floor)
            share.burst = max(1, rate.burst / members)
            defer { shares[place] = share }
            return (share.name, body(&share, now))
        }
    }
}
