public import MidstreamCore

/// The calls that are made in a simulation.
public struct SimulatedLoad: Sendable {
    let perSecond: Double
    let isRandom: Bool
    private(set) var clientCount = 1
    private(set) var patience: ServiceTime?
    private(set) var isStreamed = false
    private(set) var request: @Sendable (Int) -> HTTPRequest = { _ in HTTPRequest("https://server.test/") }

    /// So many calls a second on average, each independent of the others, as those of many users are.
    public static func poisson(perSecond: Double) -> SimulatedLoad { SimulatedLoad(perSecond: perSecond, isRandom: true) }

    /// So many calls a second, at equal distances, the first at the beginning.
    public static func constant(perSecond: Double) -> SimulatedLoad { SimulatedLoad(perSecond: perSecond, isRandom: false) }

    private init(perSecond: Double, isRandom: Bool) {
        self.perSecond = max(1e-6, perSecond)
        self.isRandom = isRandom
    }

    /// The same calls, made by several clients in turn.
    public func clients(_ count: Int) -> SimulatedLoad {
        var load = self
        load.clientCount = max(1, count)
        return load
    }

    /// The same calls, of which each is cancelled by its user when it takes longer than that one has patience.
    public func patience(_ time: ServiceTime) -> SimulatedLoad {
        var load = self
        load.patience = time
        return load
    }

    /// The same calls, whose bodies are read as they arrive.
    public func streamed() -> SimulatedLoad {
        var load = self
        load.isStreamed = true
        return load
    }

    /// The same calls with these requests; the first has the number 0.
    public func requests(_ request: @escaping @Sendable (Int) -> HTTPRequest) -> SimulatedLoad {
        var load = self
        load.request = request
        return load
    }

    /// When a call is made.
    ///
    /// - Parameter previous: When the one before was; the beginning for the first.
    func time(of number: Int, after previous: Duration, _ random: SimulatedRandom) -> Duration {
        // Sums of equal distances would drift.
        isRandom ? previous + .seconds(random.exponential() / perSecond) : .seconds(Double(number) / perSecond)
    }
}
