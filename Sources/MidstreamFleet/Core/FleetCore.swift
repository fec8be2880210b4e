internal import Interception
internal import MidstreamCore

/// What the parts of a fleet have in common.
///
/// The tasks in the background hold it only while something is to be done.
final class FleetCore: Sendable {
    private struct State {
        var isOpen = true
        var refreshes = 0
        /// Waits for news of tokens.
        var listeners: [(token: String, wait: Suspension<Void>)] = []
        /// How much news there has been.
        var heard = 0
        /// By their names in the store, of which several clients may have one.
        var tokens: [String: [ObjectIdentifier: WeakToken]] = [:]
        var removals = 0
        /// The stamps of removals that the store hasn't taken.
        var owed: Set<String> = []
        /// Whether a task is telling it.
        var isPaying = false
        /// What puts back tokens, the next one last.
        var offers: [Offer] = []
        /// How many tasks are doing that.
        var offering = 0
    }

    /// Puts back a token. Says whether that is done.
    typealias Offer = @Sendable () async -> Bool

    private static let mostOwed = 10_000
    /// All members do it at the same time, while calls wait for the same store.
    private static let mostOffering = 16

    private struct WeakToken { weak var token: SharedToken? }

    let name: String
    let key: FleetKey
    let names: FleetNames
    let stopwatch: Stopwatch
    let near: NearKeys
    let store: any FleetStore
    /// The same one for what no call waits for.
    let patientStore: any FleetStore
    /// How the store is reached; nil for one in memory.
    private let link: RedisLink?
    private let member: String
    private let changes = Broadcast<FleetState>(keeping: 16)
    /// The member's parts of quotas.
    let shares = Locked<[LocalShare.Place: LocalShare]>([:])
    private let state = Locked(State())

    init(
        name: String, key: FleetKey, member: String, clock: any Clock<Duration>, store: any FleetStore, link: RedisLink? = nil
    ) {
        self.name = name
        self.key = key
        self.member = member
        self.store = store
        patientStore = link.map { RedisStore($0, .patient) as any FleetStore } ?? store
        self.link = link
        names = FleetNames(fleet: name, key: key)
        near = NearKeys(names)
        stopwatch = Stopwatch(on: clock)
        link?.listener = self
    }

    deinit { close() }

    var timer: ClockTimer { stopwatch.timer }
    var grace: Duration { (link?.settings.limits ?? RedisLink.Limits()).grace }
    var degradation: String? { link?.trouble }
    var isOpen: Bool { state.withLock { $0.isOpen } }
    var members: Int { link?.state.withLock { $0.members } ?? 1 }

    /// A name for one wish to refresh a token.
    func newHolder() -> String { "\(member):\(UInt64.random(in: 0 ... .max))" }

    func noteRefresh() { state.withLock { $0.refreshes += 1 } }

    func sharedToken(_ name: String) -> SharedToken {
        let token = SharedToken(self, name)
        state.withLock { $0.tokens[token.name, default: [:]][ObjectIdentifier(token)] = WeakToken(token: token) }
        return token
    }

    /// Called by one that goes. Looks at no other, which might go as well, while the lock is held.
    func forget(_ token: ObjectIdentifier, _ name: String) {
        state.withLock { state in
            state.tokens[name]?[token] = nil
            if state.tokens[name]?.isEmpty == true { state.tokens[name] = nil }
        }
    }

    func tokens(named name: String) -> [SharedToken] {
        state.withLock { $0.tokens[name].map { $0.values.compactMap(\.token) } ?? [] }
    }

    /// How many names of tokens there are.
    var tokenNames: Int { state.withLock { $0.tokens.count } }

    /// Of how many removals this member knows, its own ones and what may have been one included.
    var removals: Int { state.withLock { $0.removals } }

    private func noteRemoval() { state.withLock { $0.removals += 1 } }

    /// Removes what is valid by any of some stamps. A store that can't take that now is told as soon as it can, since no other member would
    /// hear of it.
    func remove(_ stamps: [String]) async throws {
        defer { noteRemoval() }
        let answer = await store.remove(stamps)
        if case .failure = answer { owe(stamps) }
        try answer.get()
    }

    private func owe(_ stamps: [String]) {
        let isFirst = state.withLock { state in
            state.owed.formUnion(stamps)
            if state.owed.count > Self.mostOwed { state.owed = [names.everything] }
            defer { state.isPaying = true }
            return !state.isPaying
        }
        guard isFirst else { return }
        _ = CallersExecutor().startDetached { [weak self, timer = stopwatch.timer] in
            while await self?.isPaid() == false { try? await timer.sleep(for: SharedToken.offerPause) }
        }
    }

    /// Whether the store has been told of all that it is owed, or will never be asked again.
    private func isPaid() async -> Bool {
        // One that fails again meanwhile is owed anew.
        while let stamp = state.withLock({ $0.owed.popFirst() }) {
            guard case .failure = await store.remove([stamp]) else { continue }
            state.withLock { _ = $0.owed.insert(stamp) }
            break
        }
        return state.withLock { state in
            state.isPaying = state.isOpen && !state.owed.isEmpty
            return !state.isPaying
        }
    }

    /// Puts back a token in the background, before those that wait for that already; after a pause again, and after them, until it is done.
    func putBack(_ offer: @escaping Offer) {
        let isMore = state.withLock { state in
            state.offers.append(offer)
            guard state.offering < Self.mostOffering else { return false }
            state.offering += 1
            return true
        }
        guard isMore else { return }
        _ = CallersExecutor().startDetached { [weak self, timer = stopwatch.timer] in
            while let offer = self?.nextOffer() {
                if await offer() { continue }
                try? await timer.sleep(for: SharedToken.offerPause)
                self?.state.withLock { $0.offers.insert(offer, at: 0) }
            }
        }
    }

    private func nextOffer() -> Offer? {
        state.withLock { state in
            if state.offers.isEmpty { state.offering -= 1 }
            return state.offers.popLast()
        }
    }

    var newsHeard: Int { state.withLock { $0.heard } }

    /// Waits until a member has done something to a token, for so long at most; not at all if there has been any news since `heard`.
    func news(of token: String, since heard: Int, within limit: Duration) async {
        let wait = Suspension<Void>()
        let isLate = state.withLock { state in
            if state.heard == heard { state.listeners.append((token, wait)) }
            return state.heard != heard
        }
        guard !isLate else { return }
        _ = await wait.wait(for: limit, on: timer)
        state.withLock { $0.listeners.removeAll { $0.wait == wait } }
    }

    var fleetState: FleetState {
        let refreshes = state.withLock { $0.refreshes }
        guard let link else { return FleetState(connection: .connected(latency: .zero), members: 1, refreshes: refreshes) }
        return link.state.withLock { state in
            let connection: FleetState.Connection =
                switch state.phase {
                case .beginning: .connecting
                case .connected: .connected(latency: state.latency ?? .zero)
                case .down(let reason): .degraded(since: max(.zero, link.stopwatch.elapsed - state.since), because: reason)
                }
            return FleetState(connection: connection, members: state.members, refreshes: refreshes)
        }
    }

    func states() -> AsyncStream<FleetState> { changes.stream(beginningWith: fleetState) }

    func close() {
        state.withLock { $0.isOpen = false }
        changes.close()
        link?.close()
        near.forgotten.close()
    }
}

extension FleetCore: RedisListener {
    func hear(_ channel: String, _ content: [String]?) {
        // The member's own changes and removals come back as well, and nothing tells them from others'. What it fetches meanwhile isn't
        // stored then, which costs another request at most.
        near.forget(content)
        if content?.contains(where: names.isStamp) != false { noteRemoval() }
        guard channel == names.news else {
            // A server that was emptied has forgotten the tokens, too.
            if content == nil { offerAll() }
            return
        }
        // One that has evicted a token has forgotten that one, which a member finds that looks for it.
        let lost = content?.compactMap { names.lostToken($0) } ?? []
        guard lost.isEmpty else { return offer(lost.flatMap { tokens(named: $0) }, isAwaited: true) }
        // Removals are heard here as well, and are nothing to wait for.
        guard content?.contains(where: names.isToken) != false else { return }
        let listeners = state.withLock { state in
            state.heard += 1
            return state.listeners
        }
        for (token, wait) in listeners where content?.contains(token) == true { wait.resume() }
    }

    func changed(isConnected: Bool) {
        // Nothing is heard of while it isn't connected, and what is fetched meanwhile may arrive after that.
        near.forget(nil)
        noteRemoval()
        // A server that came back may have forgotten, or remember only what is spent by now.
        if isConnected { offerAll() }
        changes.send(fleetState)
    }

    private func offerAll() { offer(state.withLock { $0.tokens.values.flatMap { $0.values.compactMap(\.token) } }) }

    private func offer(_ tokens: [SharedToken], isAwaited: Bool = false) {
        for token in tokens where token.present.record.generation > 0 {
            token.offerInBackground(holder: "", grace: grace, isAwaited: isAwaited)
        }
    }
}
