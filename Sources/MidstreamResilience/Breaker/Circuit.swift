internal import Interception
internal import MidstreamCore

/// The breaker of one key.
final class Circuit: ScopeState {
    /// A request that was let through.
    struct Pass: Sendable {
        /// Results of exchanges that were begun before the last change are no news.
        fileprivate let epoch: UInt64
        let isProbe: Bool
    }

    enum Admission: Sendable {
        case pass(Pass)
        case refused(CircuitBreaker.State, counts: FailureWindow.Counts, last: String)
    }

    /// A change of the state, with the figures that led to it.
    struct Change: Sendable {
        let from: CircuitBreaker.State
        let to: CircuitBreaker.State
        let counts: FailureWindow.Counts
        let last: String
    }

    private enum Phase {
        case closed
        case open(until: Int64)
        case halfOpen
        case isolated
    }

    private struct State {
        var phase = Phase.closed
        var epoch: UInt64 = 0
        var window: FailureWindow
        /// The counts at the opening, for those who are refused.
        var counts = FailureWindow.Counts()
        var last = "nothing"
        var breakLength: Int64 = 0
        var goodProbes = 0
        var isProbing = false
        /// When an exchange failed or was slow last; the smallest number: never.
        var lastTrouble = Int64.min
        /// Whether all circuits of the breaker are isolated, whatever the phase of this one.
        var isHeld: Bool

        mutating func enter(_ phase: Phase) {
            self.phase = phase
            epoch += 1
            goodProbes = 0
            isProbing = false
            window.clear()
        }

        func publicState(at now: Int64) -> CircuitBreaker.State {
            switch phase {
            case _ where isHeld: .isolated
            case .closed: .closed
            case .open(let until): until > now ? .open(for: .nanoseconds(until - now)) : .halfOpen
            case .halfOpen: .halfOpen
            case .isolated: .isolated
            }
        }
    }

    let key: String
    private let settings: BreakerSettings
    private let slow: Int64
    /// For so long after a failure the circuit isn't forgotten.
    private let memory: Int64
    private let state: Locked<State>

    init(_ key: String, _ settings: BreakerSettings, isHeld: Bool = false) {
        self.key = key
        self.settings = settings
        slow = settings.slowerThan?.wholeNanoseconds ?? .max
        let length = min(max(.milliseconds(10), settings.window), .longest).wholeNanoseconds
        memory = max(length, min(max(.zero, settings.longestBreak), .longest).wholeNanoseconds)
        state = Locked(State(window: FailureWindow(length), isHeld: isHeld))
    }

    func isIdle(at now: Int64) -> Bool {
        state.withLock { state in
            if case .isolated = state.phase { return false }
            return state.lastTrouble == .min || now > state.lastTrouble && now &- state.lastTrouble > memory
        }
    }

    /// Whether an answer that took so many nanoseconds is a slow one.
    func isSlow(_ time: Int64) -> Bool { time > slow }

    func publicState(at now: Int64) -> CircuitBreaker.State { state.withLock { $0.publicState(at: now) } }

    /// Asks to send a request while the circuit is closed, as it is nearly always; nil: it isn't, so ``admit(mayProbe:at:)`` has to be asked.
    func admitWhenClosed() -> Pass? {
        state.withLock { state in
            guard case .closed = state.phase, !state.isHeld else { return nil }
            return Pass(epoch: state.epoch, isProbe: false)
        }
    }

    /// Asks to send a request.
    ///
    /// - Parameter mayProbe: Whether it may be the one that finds out if the server is well again.
    func admit(mayProbe: Bool, at now: Int64) -> (Admission, Change?) {
        state.withLock { state in
            if state.isHeld { return (.refused(.isolated, counts: .init(), last: ""), nil) }
            switch state.phase {
            case .closed: return (.pass(Pass(epoch: state.epoch, isProbe: false)), nil)
            case .open(let until) where until <= now && mayProbe:
                let from = state.publicState(at: until - 1)
                state.enter(.halfOpen)
                state.isProbing = true
                let change = Change(from: from, to: .halfOpen, counts: state.counts, last: state.last)
                return (.pass(Pass(epoch: state.epoch, isProbe: true)), change)
            case .halfOpen where mayProbe && !state.isProbing:
                state.isProbing = true
                return (.pass(Pass(epoch: state.epoch, isProbe: true)), nil)
            case .open, .halfOpen, .isolated:
                return (.refused(state.publicState(at: now), counts: state.counts, last: state.last), nil)
            }
        }
    }

    /// Tells what became of a request that was let through.
    ///
    /// - Parameters:
    ///   - time: How long the head took, in nanoseconds.
    ///   - retryAfter: How long the server asks to be left alone.
    ///   - random: A number in 0..<1.
    func ended(
        _ pass: Pass, _ outcome: ExchangeOutcome, after time: Int64, retryAfter: Duration?, at now: Int64, random: () -> Double
    ) -> Change? {
        let isSlow = isSlow(time)
        return state.withLock { state -> Change? in
            guard pass.epoch == state.epoch else { return nil }
            if pass.isProbe { state.isProbing = false }
            guard let isFailure = outcome.isFailure else { return nil }
            if isFailure || isSlow { state.lastTrouble = now }
            if isFailure { state.last = outcome.summary } else if isSlow { state.last = "\(Duration.nanoseconds(time).brief)" }
            if pass.isProbe {
                if isFailure || isSlow {
                    state.counts = .init(total: state.goodProbes + 1, failed: 1, slow: isSlow && !isFailure ? 1 : 0)
                    let longest = min(settings.longestBreak, .longest).wholeNanoseconds
                    state.breakLength = min(longest, state.breakLength.multipliedReportingOverflow(by: 2).partialValue)
                    return open(&state, from: .halfOpen, retryAfter, now, random)
                }
                state.goodProbes += 1
                guard state.goodProbes >= settings.probes else { return nil }
                let change = Change(
                    from: .halfOpen, to: .closed, counts: .init(total: state.goodProbes, failed: 0, slow: 0), last: "success")
                state.enter(.closed)
                return change
            }
            let counts = state.window.count(failed: isFailure, slow: isSlow, at: now)
            guard counts.total >= settings.minimum, isTooMany(counts) else { return nil }
            state.counts = counts
            state.breakLength = min(max(.zero, settings.breakFor), .longest).wholeNanoseconds
            return open(&state, from: .closed, retryAfter, now, random)
        }
    }

    /// Refuses everything, or no longer, without a change of the state.
    func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

    /// Refuses everything until it is closed.
    func isolate() -> Change { change(to: .isolated) }

    /// Lets everything through again.
    func close() -> Change { change(to: .closed) }

    /// Without a call there is no telling what time it is, so nothing is said about what was still to come.
    private func change(to phase: Phase) -> Change {
        state.withLock { state in
            let from: CircuitBreaker.State = if case .open = state.phase { .open(for: .zero) } else { state.publicState(at: 0) }
            state.enter(phase)
            return Change(from: from, to: state.publicState(at: 0), counts: .init(), last: "by hand")
        }
    }

    private func isTooMany(_ counts: FailureWindow.Counts) -> Bool {
        let total = Double(counts.total)
        let isFailing = counts.failed > 0 && Double(counts.failed) >= settings.failureRatio * total
        return isFailing || (counts.slow > 0 && Double(counts.slow) >= settings.slowRatio * total)
    }

    private func open(
        _ state: inout State, from: CircuitBreaker.State, _ retryAfter: Duration?, _ now: Int64, _ random: () -> Double
    ) -> Change {
        // A tenth more or less, so that many clients don't come back at the same moment.
        let spread = Int64((Double(state.breakLength) * (0.9 + 0.2 * random())).rounded())
        let asked = min(max(.zero, retryAfter ?? .zero), settings.longestBreak, .longest).wholeNanoseconds
        let length = max(spread, asked)
        let counts = state.counts
        state.enter(.open(until: now &+ length))
        return Change(from: from, to: .open(for: .nanoseconds(length)), counts: counts, last: state.last)
    }
}

extension ExchangeOutcome {
    /// Whether the server has failed; nil when it says nothing about that.
    var isFailure: Bool? {
        switch self {
        case .answered(let status): status.code >= 500 || status == .tooManyRequests
        case .timedOut, .broken: true
        case .none: nil
        }
    }
}
