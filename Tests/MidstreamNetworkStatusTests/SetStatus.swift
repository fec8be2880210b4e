import Interception
import MidstreamNetworkStatus
import TestSupport

/// A network that a test switches.
final class SetStatus: NetworkStatus {
    private struct State {
        var isOnline: Bool
        var waiting: [Suspension<Void>] = []
    }

    private let state: Locked<State>
    /// What a wait fails with.
    private let failure: Failure?

    init(isOnline: Bool, failure: Failure? = nil) {
        state = Locked(State(isOnline: isOnline))
        self.failure = failure
    }

    var isOnline: Bool { state.withLock { $0.isOnline } }
    var waiters: Int { state.withLock { $0.waiting.count } }

    func waitUntilOnline() async throws {
        if let failure { throw failure }
        let suspension = Suspension<Void>()
        state.withLock { $0.waiting.append(suspension) }
        let ending = await suspension.wait()
        state.withLock { $0.waiting.removeAll { $0 == suspension } }
        guard case .value = ending else { throw CancellationError() }
    }

    func goOnline() {
        let waiting = state.withLock { state in
            state.isOnline = true
            return state.waiting
        }
        for suspension in waiting { suspension.resume() }
    }
}
