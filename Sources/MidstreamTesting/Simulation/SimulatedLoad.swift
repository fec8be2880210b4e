public import MidstreamCore

/// The calls that are made in a simulation.
public struct SimulatedLoad: Sendable {
    private enum Arrivals {
        case random(perSecond: Double)
        case regular(perSecond: Double)
        case given([Duration], period: Duration, share: Double)
    }

    private let arrivals: Arrivals
    private(set) var clientCount = 1
    private(set) var patience: ServiceTime?
    private(set) var isStreamed = false
    private(set) var request: @Sendable (Int) -> HTTPRequest = { _ in HTTPRequest("https://server.test/") }

    /// So many calls a second on average, up to a million, each independent of the others, as those of many users are.
    public static func poisson(perSecond: Double) -> SimulatedLoad {
        SimulatedLoad(arrivals: .random(perSecond: min(max(1e-6, perSecond), 1e6)))
    }

    /// So many calls a second, up to a million, at equal distances, the first at the beginning.
    public static func constant(perSecond: Double) -> SimulatedLoad {
        SimulatedLoad(arrivals: .regular(perSecond: min(max(1e-6, perSecond), 1e6)))
    }

    /// Calls at given times, such as those of recorded traffic, and at the same times of each further period.
    ///
    /// - Parameters:
    ///   - times: Since the beginning, in any order. Those outside the period are left out.
    ///   - period: After which it begins anew.
    ///   - share: Which part of the calls is made: 0.1 is every tenth. All are by default.
    public static func at(_ times: [Duration], every period: Duration, share: Double = 1) -> SimulatedLoad {
        let times = times.filter { .zero <= $0 && $0 < period }.sorted()
        return SimulatedLoad(arrivals: .given(times, period: period, share: min(max(1e-6, share), 1)))
    }

    private init(arrivals: Arrivals) { self.arrivals = arrivals }

    /// The same calls, made by several clients in turn.
    public func clients(_ count: Int) -> SimulatedLoad { with { $0.clientCount = max(1, count) } }

    /// The same calls, of which each is cancelled by its user when it takes longer than that one has patience.
    public func patience(_ time: ServiceTime) -> SimulatedLoad { with { $0.patience = time } }

    /// The same calls, whose bodies are read as they arrive.
    public func streamed() -> SimulatedLoad { with { $0.isStreamed = true } }

    /// The same calls with these requests; the first has the number 0.
    public func requests(_ request: @escaping @Sendable (Int) -> HTTPRequest) -> SimulatedLoad { with { $0.request = request } }

    private func with(_ change: (inout SimulatedLoad) -> Void) -> SimulatedLoad {
        var load = self
        change(&load)
        return load
    }

    /// When a call is made; nil: there is none.
    ///
    /// - Parameter previous: When the one before was; the beginning for the first.
    func time(of number: Int, after previous: Duration, _ random: SimulatedRandom) -> Duration? {
        switch arrivals {
        case .random(let perSecond): previous + .seconds(random.exponential() / perSecond)
        // Sums of equal distances would drift.
        case .regular(let perSecond): .seconds(Double(number) / perSecond)
        case .given(let times, let period, let share):
            Self.time(of: Int(Double(number) / share), times, period)
        }
    }

    private static func time(of number: Int, _ times: [Duration], _ period: Duration) -> Duration? {
        times.isEmpty ? nil : times[number % times.count] + period * (number / times.count)
    }
}
