internal import Interception
internal import MidstreamCache
internal import MidstreamCore

/// What the parts of a fleet have in common.
///
/// The tasks in the background hold it only while something is to be done.
final class FleetCore: Sendable {
    private struct State {
        var isOpen = true
        var refreshes = 0
        /// Waits for news of tokens, by name.
        var listeners: [String: [Suspension<Void>]] = [:]
        var tokens: [WeakToken] = []
        var holders = 0
        var observers: [Int: AsyncStream<FleetState>.Continuation] = [:]
        var nextObserver = 0
    }

    private struct WeakToken { weak var token: SharedToken? }

    let name: String
    let key: FleetKey
    let names: FleetNames
    let member: String
    let stopwatch: Stopwatch
    let near: NearKeys
    /// How the store is reached; nil for one in memory.
    let link: RedisLink?
    let store: any FleetStore
    private let state = Locked(State())

    init(
        name: String, key: FleetKey, member: String, clock: any Clock<Duration>, near: NearKeys, store: any FleetStore,
        link: RedisLink? = nil
    ) {
        self.name = name
        self.key = key
        names = FleetNames(fleet: name, key: key)
        self.member = member
        stopwatch = Stopwatch(on: clock)
        self.near = near
        self.store = store
        self.link = link
    }

    deinit { close() }

    var timer: ClockTimer { stopwatch.timer }
    var grace: Duration { link?.settings.limits.grace ?? RedisLink.Limits().grace }
    var degradation: String? { link?.trouble }
    var isOpen: Bool { state.withLock { $0.isOpen } }
    var members: Int { link.map { $0.state.withLock { $0.members } } ?? 1 }

    func newHolder() -> String {
        let number = state.withLock { state in
            state.holders += 1
            return state.holders
        }
        return "\(member):\(number)"
    }

    func noteRefresh() { state.withLock { $0.refreshes += 1 } }

    func sharedToken(_ name: String) -> SharedToken {
        let token = SharedToken(self, name)
        state.withLock { state in
            state.tokens.removeAll { $0.token == nil }
            state.tokens.append(WeakToken(token: token))
        }
        return token
    }

    /// Waits until a member has done something to a token, for so long at most.
    func news(of token: String, within limit: Duration) async {
        let wait = Suspension<Void>()
        state.withLock { $0.listeners[token, default: []].append(wait) }
        _ = await wait.wait(for: limit, on: timer)
        state.withLock { state in
            state.listeners[token]?.removeAll { $0 == wait }
            if state.listeners[token]?.isEmpty == true { state.listeners[token] = nil }
        }
    }

    /// Takes a message of Redis.
    ///
    /// - Parameter content: Names of keys, or of a token; nil: all keys.
    func hear(_ channel: String, _ content: [String]?) {
        guard channel == names.news else { return near.forget(content) }
        for token in content ?? [] {
            for listener in state.withLock({ $0.listeners[token] ?? [] }) { listener.resume() }
        }
    }

    /// Has come to the store, or lost it.
    func changed(isConnected: Bool) {
        if isConnected {
            // A server that came back may have forgotten, or remember only what is spent by now.
            for token in state.withLock({ $0.tokens.compactMap(\.token) }) where token.present.record.generation > 0 {
                token.offerInBackground(holder: "", grace: grace)
            }
        } else {
            // What happens now isn't heard of.
            near.forget(nil)
        }
        let now = fleetState
        for observer in state.withLock({ Array($0.observers.values) }) { observer.yield(now) }
    }

    var fleetState: FleetState {
        let refreshes = state.withLock { $0.refreshes }
        guard let link else { return FleetState(connection: .connected(latency: .zero), members: 1, refreshes: refreshes) }
        return link.state.withLock { state in
            let connection: FleetState.Connection =
                switch state.phase {
                case .idle, .connecting: .connecting
                case .connected: .connected(latency: state.latency ?? .zero)
                case .down(let reason): .degraded(since: max(.zero, link.stopwatch.elapsed - state.since), because: reason)
                }
            return FleetState(connection: connection, members: state.members, refreshes: refreshes)
        }
    }

    func states() -> AsyncStream<FleetState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            continuation.yield(fleetState)
            let number = state.withLock { state -> Int? in
                guard state.isOpen else { return nil }
                state.nextObserver += 1
                state.observers[state.nextObserver] = continuation
                return state.nextObserver
            }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.observers[number] = nil } }
        }
    }

    func close() {
        let observers = state.withLock { state in
            state.isOpen = false
            defer { state.observers = [:] }
            return Array(state.observers.values)
        }
        link?.close()
        near.close()
        for observer in observers { observer.finish() }
    }
}
