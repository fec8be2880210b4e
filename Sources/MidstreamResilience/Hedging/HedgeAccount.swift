internal import Interception

/// The response times of one key, and its budget for hedges.
final class HedgeAccount: ScopeState {
    private struct State {
        var usual: RunningQuantile
        var budget: HedgeBudget
    }

    let key: String
    /// The delay while there are too few responses.
    private let firstDelay: Int64
    private let state: Locked<State>

    init(_ key: String, delay: Int64, percentile: Double, minimumSamples: Int, share: Double, reserve: Int) {
        self.key = key
        firstDelay = delay
        state = Locked(
            State(usual: RunningQuantile(percentile, from: minimumSamples), budget: HedgeBudget(share: share, reserve: reserve)))
    }

    /// Counts an exchange, and gives the delay after which a second one may begin.
    func begin(at now: Int64) -> Int64 {
        state.withLock { state in
            state.budget.countExchange()
            return state.usual.value(at: now) ?? firstDelay
        }
    }

    func takeHedge() -> Bool { state.withLock { $0.budget.take() } }

    func giveBackHedge() { state.withLock { $0.budget.giveBack() } }

    /// Counts the time until a response, or one without a response.
    func record(_ time: Int64, at now: Int64) {
        state.withLock { $0.usual.record(time, at: now) }
    }

    func snapshot(at now: Int64) -> (exchanges: Int, hedges: Int, delay: Int64) {
        state.withLock { ($0.budget.exchanges, $0.budget.hedges, $0.usual.value(at: now) ?? firstDelay) }
    }

    func isIdle(at now: Int64) -> Bool { true }

    func quantile(_ share: Double, at now: Int64) -> Duration? { state.withLock { $0.usual.quantile(share, at: now) } }
}
