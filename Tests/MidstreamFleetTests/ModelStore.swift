import Interception
import MidstreamCore
import MidstreamResilience
import MidstreamTesting

@testable import MidstreamFleet

/// A model of Redis in memory: what the operations do, without any network.
final class ModelStore: Sendable {
    struct Token {
        var record = TokenRecord.none
        var isKnown = false
        /// The logins that wishes began.
        var wishes: [String: Int64] = [:]
        var lock: (holder: String, end: Duration)?
        var spentUntil: Duration?
        var quietUntil: Duration = .zero
        var failure: (until: Duration, count: Int)?
    }

    struct State {
        var tokens: [String: Token] = [:]
        var quotas: [String: Double] = [:]
        var forgets = 0
    }

    private let state = Locked(State())
    let stopwatch: Stopwatch

    init(_ clock: any Clock<Duration>) { stopwatch = Stopwatch(on: clock) }

    /// As a server that was restarted without its data; not in the middle of a refresh, whose token two members could spend then.
    ///
    /// - Returns: Whether it has forgotten.
    func forget() -> Bool {
        let now = stopwatch.elapsed
        return state.withLock { state in
            guard state.tokens.values.allSatisfy({ $0.lock.map { $0.end < now } ?? true }) else { return false }
            state.tokens = [:]
            state.quotas = [:]
            return true
        }
    }

    func withToken<Value>(_ name: String, _ body: (inout Token, _ now: Duration) -> Value) -> Value {
        let now = stopwatch.elapsed
        return state.withLock { state in
            var token = state.tokens[name] ?? Token()
            if let lock = token.lock, lock.end <= now { token.lock = nil }
            defer { state.tokens[name] = token }
            return body(&token, now)
        }
    }

    func withQuota(_ name: String, _ body: (inout Double, _ now: Double) -> QuotaDecision) -> QuotaDecision {
        let now = stopwatch.elapsed / .microseconds(1)
        return state.withLock { state in
            var taken = max(now, state.quotas[name] ?? now)
            defer { state.quotas[name] = taken }
            return body(&taken, now)
        }
    }
}

extension ModelStore.Token {
    fileprivate mutating func put(_ new: TokenRecord, quietUntil: Duration = .zero) {
        self = ModelStore.Token(record: new, isKnown: true, wishes: wishes, lock: lock, quietUntil: quietUntil)
    }
}

/// One member's way to the model, on which messages are delayed and lost.
final class ModelLink: FleetStore {
    /// What happens to a message.
    enum Fate {
        case arrives(after: Duration)
        /// It does what it says, and its answer comes too late.
        case isAnsweredLate
        /// It does what it says, and its sender hears of that after something else has been done.
        case isAnswered(after: @Sendable () async -> Void)
        case isLost
    }

    private let model: ModelStore
    private let patience: Duration
    private let fate: @Sendable () async -> Fate

    init(_ model: ModelStore, patience: Duration = .milliseconds(20), fate: @escaping @Sendable () async -> Fate) {
        self.model = model
        self.patience = patience
        self.fate = fate
    }

    private func run<Value: Sendable>(_ work: () -> Value) async -> Answer<Value> {
        switch await fate() {
        case .arrives(let delay):
            try? await model.stopwatch.timer.sleep(for: delay)
            return .success(work())
        case .isAnsweredLate:
            _ = work()
            try? await model.stopwatch.timer.sleep(for: patience)
        case .isAnswered(let change):
            let value = work()
            await change()
            return .success(value)
        case .isLost: try? await model.stopwatch.timer.sleep(for: patience)
        }
        return .failure(.timedOut)
    }

    func offerToken(_ record: TokenRecord, as name: String, holder: String, grace: Duration) async -> Answer<TokenRecord> {
        await run {
            model.withToken(name) { token, now in
                if record.isNewer(than: token.record) { token.put(record, quietUntil: now + grace) }
                if token.lock?.holder == holder { token.lock = nil }
                return token.record
            }
        }
    }

    func takeToken(
        _ name: String, insteadOf present: TokenRecord, holder: String, lease: Duration, grace: Duration
    ) async -> Answer<TokenTurn> {
        await run {
            model.withToken(name) { token, now in
                if !token.isKnown {
                    token.isKnown = true
                    token.quietUntil = now + grace
                }
                guard !token.record.isNewer(than: present), !present.isNewer(than: token.record) else {
                    return .other(token.record)
                }
                if token.record.isDead { return .dead }
                if token.quietUntil > now { return .held(token.quietUntil - now, afterLoss: true) }
                if let failure = token.failure, failure.until > now { return .failed(failure.until - now) }
                if let lock = token.lock {
                    if lock.holder != holder { return .held(lock.end - now, afterLoss: false) }
                } else if let end = token.spentUntil, end > now {
                    return .held(end - now, afterLoss: false)
                }
                token.lock = (holder, now + lease)
                token.spentUntil = now + lease
                return .mine
            }
        }
    }

    func writeToken(_ record: TokenRecord, as name: String, holder: String) async -> Answer<Bool> {
        await run {
            model.withToken(name) { token, _ in
                guard token.lock?.holder == holder, token.record.login == record.login,
                    token.record.generation == record.generation - 1
                else { return false }
                token.put(record)
                token.lock = nil
                return true
            }
        }
    }

    func replaceToken(_ record: TokenRecord, as name: String, wish: String) async -> Answer<BegunLogin> {
        await run {
            model.withToken(name) { token, _ in
                if let login = token.wishes[wish] { return BegunLogin(login: login, there: token.record) }
                var record = record
                record.login = max(token.record.login + 1, record.login)
                record.generation = max(token.record.generation + 1, record.generation)
                token.put(record)
                token.wishes[wish] = record.login
                token.lock = nil
                return BegunLogin(login: record.login, there: record)
            }
        }
    }

    func failToken(
        _ name: String, of record: TokenRecord, holder: String, pause: Duration?, isDead: Bool
    ) async -> Answer<Void> {
        await run {
            model.withToken(name) { token, now in
                let isMine = token.lock?.holder == holder
                if isMine { token.lock = nil }
                guard token.isKnown, token.record.login == record.login, token.record.generation == record.generation,
                    isMine || isDead
                else { return }
                token.spentUntil = nil
                if isDead { token.record.isDead = true }
                guard let pause, !isDead else { return }
                let count = token.failure.map { $0.count + 1 } ?? 0
                token.failure = (now + max(pause, min(.seconds(5), .milliseconds(100 << min(count, 10)))), count)
            }
        }
    }

    func reserve(_ name: String, _ rate: QuotaRate, waitingAtMost longest: Duration) async -> Answer<QuotaDecision> {
        await run {
            model.withQuota(name) { taken, now in
                let wait = taken + rate.interval - rate.burst * rate.interval - now
                guard wait <= longest / .microseconds(1) else { return .refuses(wait: .microseconds(wait)) }
                taken += rate.interval
                return .sends(after: .microseconds(max(0, wait)))
            }
        }
    }

    func giveBack(_ name: String, _ rate: QuotaRate) {
        _ = model.withQuota(name) { taken, now in
            taken = max(now, taken - rate.interval)
            return .sends(after: .zero)
        }
    }

    func drain(_ name: String, _ rate: QuotaRate, wait: Duration) {}
    func responses(_ keys: ResponseKeys, toKeep life: Duration?) async -> Answer<StoredResponses> { .failure(.timedOut) }
    func pieces(_ names: [String]) async -> Answer<[[UInt8]?]> { .failure(.timedOut) }
    func keepPiece(_ bytes: [UInt8], as name: String, life: Duration) {}
    func keep(_ commit: ResponseCommit, if isCurrent: @escaping @Sendable () -> Bool) async -> Answer<Bool> {
        .failure(.timedOut)
    }
    func update(_ keys: ResponseKeys, id: UInt64, head: [UInt8], life: Duration, isConfirmed: Bool) async -> Answer<Bool> {
        .failure(.timedOut)
    }
    func remove(_ stamps: [String]) async -> Answer<Void> { .failure(.timedOut) }
}
