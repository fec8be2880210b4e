internal import Interception
internal import MidstreamCore

/// What is known of one key: how long answers take, and how many hedges may be made.
final class HedgeAccount: Sendable {
    private struct State {
        var latencies = Latencies()
        var budget: HedgeBudget
        /// Looked up now and then, since that takes longer than counting.
        var delay: Int64
        var samplesAtLook = 0
    }

    let key: String
    private let percentile: Double
    private let minimumSamples: Int
    private let state: Locked<State>

    init(_ key: String, delay: Int64, percentile: Double, minimumSamples: Int, share: Double, reserve: Int) {
        self.key = key
        self.percentile = percentile
        self.minimumSamples = minimumSamples
        state = Locked(State(budget: HedgeBudget(share: share, reserve: reserve), delay: delay))
    }

    /// Counts an exchange, and says how long to wait for its answer before there is another.
    func begin() -> Int64 {
        state.withLock { state in
            state.budget.countExchange()
            return state.delay
        }
    }

    func takeHedge() -> Bool { state.withLock { $0.budget.take() } }

    func giveBackHedge() { state.withLock { $0.budget.giveBack() } }

    /// The head of a response came, or didn't for so long.
    func record(_ time: Int64, at now: Int64) {
        state.withLock { state in
            state.latencies.record(time, at: now)
            let count = state.latencies.count
            guard count >= minimumSamples, abs(count - state.samplesAtLook) >= 16 else { return }
            state.samplesAtLook = count
            if let found = state.latencies.quantile(percentile) { state.delay = found.wholeNanoseconds }
        }
    }

    /// How many exchanges and hedges there were, and how long is waited.
    var snapshot: (exchanges: Int, hedges: Int, delay: Int64) {
        state.withLock { ($0.budget.exchanges, $0.budget.hedges, $0.delay) }
    }

    func quantile(_ share: Double) -> Duration? { state.withLock { $0.latencies.quantile(share) } }
}
