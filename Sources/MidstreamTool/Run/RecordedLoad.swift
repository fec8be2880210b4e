import MidstreamTelemetry
import MidstreamTesting

/// The calls of a simulation, and how large a server they need.
struct RecordedLoad: CustomStringConvertible {
    /// More calls a second would only take longer: a part of them is made, and the server is as much smaller.
    private static let maximumRate = 200.0

    let load: SimulatedLoad
    let perSecond: Double
    let workers: Int
    let description: String

    /// - Parameters:
    ///   - rate: So many calls a second at random times in place of those that were recorded.
    ///   - seconds: How long the simulation is.
    init(_ pace: HARArchive.Pace, rate: Double?, seconds: Int) throws {
        let meanTime = pace.times.reduce(.zero, +) / pace.times.count / .seconds(1)
        let source = try rate.map { Source(perSecond: $0) } ?? Source(pace, seconds: seconds)
        perSecond = min(source.perSecond, Self.maximumRate)
        let share = perSecond / source.perSecond
        let busy = perSecond * meanTime
        // A server that had more at once than it has to have on average wasn't smaller than that.
        workers = max(1, Int((busy / 0.8).rounded(.up)), Int((Double(source.concurrency) * share).rounded(.up)))
        load =
            source.arrivals.map { .at($0, every: source.period, share: share) } ?? .poisson(perSecond: perSecond)
        let part = share < 1 && rate == nil ? "\(Self.text(share * 100)) % of " : ""
        description =
            "\(part)\(source.name), \(Self.text(perSecond)) a second, to \(workers == 1 ? "1 worker" : "\(workers) workers")"
            + " of the recorded times (\(Self.text((busy / Double(workers) * 100).rounded())) % load)"
    }

    private static func text(_ number: Double) -> String {
        // About three digits.
        if number >= 100 { return "\(Int(number.rounded()))" }
        let unit = number >= 10 ? 10.0 : 100
        let text = "\((number * unit).rounded() / unit)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Where the calls come from, before a part of them is taken.
    private struct Source {
        let name: String
        let perSecond: Double
        var concurrency = 0
        /// Nil: they come at random.
        var arrivals: [Duration]?
        var period = Duration.zero

        init(perSecond: Double) { (name, self.perSecond) = ("calls at random", perSecond) }

        init(_ pace: HARArchive.Pace, seconds: Int) throws {
            guard let last = pace.arrivals.last, last > .zero else {
                throw UsageError("the recorded calls began at one moment: --rate says how often calls begin")
            }
            concurrency = pace.concurrency
            if last >= .seconds(seconds) {
                arrivals = pace.arrivals.filter { $0 < .seconds(seconds) }
                period = .seconds(seconds)
                name = "the recorded calls of the first \(seconds) s"
            } else {
                arrivals = pace.arrivals
                // Behind the last call there is as much time as between two of them on average.
                period = last * (Double(pace.arrivals.count) / Double(pace.arrivals.count - 1))
                let isShort = period < .seconds(seconds)
                name = "the recorded calls" + (isShort ? ", repeated after \(RecordedLoad.text(period / .seconds(1))) s" : "")
            }
            perSecond = Double(arrivals?.count ?? 0) / (period / .seconds(1))
        }
    }
}
