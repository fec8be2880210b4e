internal import Interception
internal import MidstreamCore

/// When a circuit breaker opens, and for how long.
struct BreakerSettings: Sendable, Hashable {
    var failureRatio: Double
    var slowerThan: Duration?
    var slowRatio: Double
    var minimum: Int
    var window: Duration
    var breakFor: Duration
    var longestBreak: Duration
    var probes: Int
}

/// The breaker of one key.
final class Circuit: ScopeState {
    /// The right to send one request. A probe's place is free again when its pass is gone.
    struct Pass: ~Copyable, Sendable {
        fileprivate let circuit: Circuit
        /// The number of changes of the state before: results of exchanges that were begun before the last one don't count.
        fileprivate let epoch: UInt64
        fileprivate let isProbe: Bool

        deinit { if isProbe { circuit.probeEnded(epoch) } }
    }

    enum Admission: ~Copyable {
        case pass(Pass)
        /// The first probe after a break changes the state.
        case probe(Pass, CallEvent?)
        case refused(CircuitBreaker.State, counts: FailureWindow.Counts, last: String)
    }

    private enum Phase {
        case closed
        case open(until: Int64)
        case halfOpen
        case isolated
    }

    /// What a result leads to.
    private enum Consequence {
        case none
        case closed(CallEvent)
        /// A break is due, for which a random number is needed.
        case opens(from: CircuitBreaker.State)
    }

    private struct State {
        var phase: Phase
        var epoch: UInt64 = 0
        var window: FailureWindow
        /// The counts at the opening, for refusals.
        var counts = FailureWindow.Counts()
        var last = "nothing"
        var breakLength: Int64 = 0
        var goodProbes = 0
        var isProbing = false
        /// When the last probe was sent.
        var probed: Int64 = 0
        /// The time of the last failed or slow exchange; the smallest number: none.
        var lastTrouble = Int64.min
        /// Whether it was isolated alone, or closed while all others are isolated, which a new circuit of its key wouldn't know.
        var isAlone = false

        mutating func enter(_ phase: Phase) {
            self.phase = phase
            epoch += 1
            goodProbes = 0
            isProbing = false
            window.clear()
        }

        func publicState(at now: Int64) -> CircuitBreaker.State {
            switch phase {
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
    private let longestBreak: Int64
    /// How long a circuit is kept after a failure.
    private let memory: Int64
    private let state: Locked<State>

    init(_ key: String, _ settings: BreakerSettings, isIsolated: Bool = false) {
        self.key = key
        self.settings = settings
        slow = settings.slowerThan?.wholeNanoseconds ?? .max
        let length = min(max(.milliseconds(10), settings.window), .longest).wholeNanoseconds
        longestBreak = min(max(.zero, settings.longestBreak), .longest).wholeNanoseconds
        memory = max(length, longestBreak)
        state = Locked(State(phase: isIsolated ? .isolated : .closed, window: FailureWindow(length)))
    }

    func isIdle(at now: Int64) -> Bool {
        state.withLock { state in
            if state.isAlone || state.isProbing { return false }
            var last = state.lastTrouble
            // Its break may end later than what has led to it is remembered.
            if case .open(let until) = state.phase { last = max(last, until) }
            return last == .min || now > last && now &- last > memory
        }
    }

    /// Whether an answer that took so many nanoseconds is a slow one.
    func isSlow(_ time: Int64) -> Bool { time > slow }

    func publicState(at now: Int64) -> CircuitBreaker.State { state.withLock { $0.publicState(at: now) } }

    /// A pass while the circuit is closed, as it nearly always is; otherwise ``admit(mayProbe:at:)`` decides.
    func admitWhenClosed() -> Pass? {
        state.withLock { state in
            guard case .closed = state.phase else { return nil }
            return Pass(circuit: self, epoch: state.epoch, isProbe: false)
        }
    }

    /// - Parameter mayProbe: Whether the request may be the one that finds out if the server has recovered.
    func admit(mayProbe: Bool, at now: Int64) -> Admission {
        state.withLock { state in
            var change: CallEvent?
            switch state.phase {
            case .closed: return .pass(Pass(circuit: self, epoch: state.epoch, isProbe: false))
            case .open(let until) where until <= now && mayProbe:
                let from = state.publicState(at: until - 1)
                state.enter(.halfOpen)
                change = .breakerChanged(key: key, from: from, to: .halfOpen, state.counts, last: state.last)
            // A probe that takes longer than a break, and a second, as a long poll does, doesn't keep all others away.
            case .halfOpen where mayProbe && (!state.isProbing || now &- state.probed >= max(state.breakLength, 1_000_000_000)):
                break
            default: return .refused(state.publicState(at: now), counts: state.counts, last: state.last)
            }
            state.isProbing = true
            state.probed = now
            return .probe(Pass(circuit: self, epoch: state.epoch, isProbe: true), change)
        }
    }

    /// Counts the result of an exchange, with the nanoseconds until the response.
    ///
    /// - Parameter random: Gives a number in 0...1 when the circuit opens. It is the user's, and may ask this circuit.
    func ended(
        _ pass: borrowing Pass, _ outcome: ExchangeOutcome, after time: Int64, retryAfter: Duration?, at now: Int64,
        random: () -> Double
    ) -> CallEvent? {
        let isSlow = isSlow(time)
        let (epoch, isProbe) = (pass.epoch, pass.isProbe)
        let consequence = state.withLock { state -> Consequence in
            guard epoch == state.epoch, let isFailure = outcome.isFailure else { return .none }
            if isFailure || isSlow {
                state.lastTrouble = now
                state.last = isFailure ? outcome.summary : Duration.nanoseconds(time).brief
            }
            if isProbe {
                guard !isFailure && !isSlow else {
                    state.counts = .init(total: state.goodProbes + 1, failed: isFailure ? 1 : 0, slow: isSlow ? 1 : 0)
                    state.breakLength = min(longestBreak, state.breakLength * 2)
                    return .opens(from: .halfOpen)
                }
                state.goodProbes += 1
                guard state.goodProbes >= settings.probes else { return .none }
                let counts = FailureWindow.Counts(total: state.goodProbes, failed: 0, slow: 0)
                state.enter(.closed)
                return .closed(.breakerChanged(key: key, from: .halfOpen, to: .closed, counts, last: "success"))
            }
            let counts = state.window.count(failed: isFailure, slow: isSlow, at: now)
            guard counts.total >= settings.minimum, isTooMany(counts) else { return .none }
            state.counts = counts
            state.breakLength = min(max(.zero, settings.breakFor), .longest).wholeNanoseconds
            return .opens(from: .closed)
        }
        switch consequence {
        case .none: return nil
        case .closed(let change): return change
        case .opens(let from): return open(from: from, epoch, retryAfter, now, share: random())
        }
    }

    /// Refuses everything until it is closed, or lets everything through again.
    ///
    /// - Parameter isAlone: Whether the others aren't isolated with it, or are and stay so.
    func set(isIsolated: Bool, isAlone: Bool) -> CallEvent {
        state.withLock { state in
            // There is no clock without a call, so the remaining time of a break is left out.
            let from: CircuitBreaker.State = if case .open = state.phase { .open(for: .zero) } else { state.publicState(at: 0) }
            state.enter(isIsolated ? .isolated : .closed)
            state.isAlone = isAlone
            return .breakerChanged(key: key, from: from, to: state.publicState(at: 0), .init(), last: "by hand")
        }
    }

    private func probeEnded(_ epoch: UInt64) {
        state.withLock { if $0.epoch == epoch { $0.isProbing = false } }
    }

    private func isTooMany(_ counts: FailureWindow.Counts) -> Bool {
        let total = Double(counts.total)
        let isFailing = counts.failed > 0 && Double(counts.failed) >= settings.failureRatio * total
        return isFailing || (counts.slow > 0 && Double(counts.slow) >= settings.slowRatio * total)
    }

    /// Begins a break, unless the state has changed meanwhile.
    private func open(
        from: CircuitBreaker.State, _ epoch: UInt64, _ retryAfter: Duration?, _ now: Int64, share: Double
    ) -> CallEvent? {
        state.withLock { state in
            guard epoch == state.epoch else { return nil }
            // A tenth more or less, so that many clients don't come back at the same moment.
            let spread = Int64((Double(state.breakLength) * (0.9 + 0.2 * share)).rounded())
            let asked = max(.zero, retryAfter ?? .zero).wholeNanoseconds
            let length = max(spread, min(asked, longestBreak))
            state.enter(.open(until: now &+ length))
            return .breakerChanged(
                key: key, from: from, to: .open(for: .nanoseconds(length)), state.counts, last: state.last)
        }
    }
}

extension ExchangeOutcome {
    /// Whether the server has failed; nil: that isn't known.
    var isFailure: Bool? {
        switch self {
        case .answered(let status): status.code >= 500 || status == .tooManyRequests
        case .timedOut, .broken: true
        case .none: nil
        }
    }
}
