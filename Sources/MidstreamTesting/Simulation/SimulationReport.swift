public import MidstreamResilience

/// What a simulation showed, second by second. It prints itself; the same seed gives the same text.
public struct SimulationReport: Sendable, CustomStringConvertible {
    /// One second.
    public struct Row: Sendable, Hashable {
        /// Its number; 0 for the first.
        public let second: Int
        /// The calls that were begun in it.
        public internal(set) var calls = 0
        /// How many of these succeeded, whenever that was.
        public internal(set) var good = 0
        /// How many of these were refused by the client, so that nothing was sent at the end.
        public internal(set) var refused = 0
        /// How many requests arrived at the server in it.
        public internal(set) var sends = 0
        /// Half of the successful calls that were begun in it took no longer; nil when there were none.
        public internal(set) var p50: Duration?
        /// 99 of 100 took no longer.
        public internal(set) var p99: Duration?
        /// How many requests waited at the server or were worked on at its end.
        public internal(set) var load = 0
        /// What the first client knew of the server at its end.
        public internal(set) var client: ResilienceReport.Entry?

        /// The share of the calls that succeeded; 1 when there were none.
        public var goodput: Double { calls == 0 ? 1 : Double(good) / Double(calls) }
    }

    /// A call that nothing could have ended any more.
    public struct Stalled: Sendable, Hashable, CustomStringConvertible {
        /// The request, without secrets.
        public let request: String
        /// When the call was begun, in seconds.
        public let since: Double

        /// Such as `GET https://server.test/ has waited since 61.3 s, and nothing is going to happen`.
        public var description: String {
            "\(request) has waited since \(since.rounded(toPlaces: 1)) s, and nothing is going to happen"
        }
    }

    /// The seconds.
    public internal(set) var rows: [Row] = []
    /// How long the successful calls that were begun in each second took.
    var times: [[Duration]] = []
    /// Calls that hung: no timeout, no deadline, no answer. They were cancelled at the end.
    public internal(set) var stalled: [Stalled] = []
    /// How many jobs were run.
    public internal(set) var jobs = 0
    /// How long the simulation took, in real time; the only figure that isn't the same each time, and not printed.
    public internal(set) var realTime = Duration.zero

    /// The calls that were begun in some seconds.
    public func calls(_ seconds: Range<Int>) -> Int { part(seconds).reduce(0) { $0 + $1.calls } }

    /// The share of these that succeeded; 1 when there were none.
    public func goodput(_ seconds: Range<Int>) -> Double {
        let calls = calls(seconds)
        return calls == 0 ? 1 : Double(part(seconds).reduce(0) { $0 + $1.good }) / Double(calls)
    }

    /// How many requests were sent for each call of some seconds.
    public func sendsPerCall(_ seconds: Range<Int>) -> Double {
        let calls = calls(seconds)
        return calls == 0 ? 0 : Double(part(seconds).reduce(0) { $0 + $1.sends }) / Double(calls)
    }

    /// How many seconds after a moment the calls succeeded again: the first second with calls from which on, for three seconds, at least this
    /// share did. Nil: not within the simulation.
    ///
    /// - Parameter share: 0.93 by default.
    public func recovery(after second: Int, to share: Double = 0.93) -> Int? {
        for row in rows where row.second >= second && row.calls > 0 && row.goodput >= share {
            guard row.second + 3 <= rows.count else { return nil }
            if goodput(row.second..<(row.second + 3)) >= share { return row.second - second }
        }
        return nil
    }

    private func part(_ seconds: Range<Int>) -> ArraySlice<Row> { rows[seconds.clamped(to: 0..<rows.count)] }

    /// A table of the seconds, up to forty lines, and what stalled. The times of a line of several seconds are those of all their calls; of
    /// the load it has the highest, of the limit the lowest, and the breaker's last state that isn't closed.
    public var description: String {
        let step = max(1, (rows.count + 39) / 40)
        let lines = stride(from: 0, to: rows.count, by: step).map { line($0..<min(rows.count, $0 + step)) }
        let head = ["second", "calls", "goodput", "", "sends/call", "p50", "p99", "at server", "limit", "breaker"]
        let table = ([head] + lines).asTable
        return stalled.isEmpty ? table : table + "\n" + stalled.prefix(20).map(\.description).joined(separator: "\n")
    }

    private func line(_ seconds: Range<Int>) -> [String] {
        let goodput = goodput(seconds)
        let times = times[seconds].joined().sorted()
        let clients = part(seconds).compactMap(\.client)
        let limits = clients.compactMap { $0.concurrency?.limit }
        let breakers = clients.compactMap { $0.breaker?.name }
        return [
            "\(seconds.lowerBound)", "\(calls(seconds))", goodput.percent, goodput.bar,
            "\(sendsPerCall(seconds).rounded(toPlaces: 2))", times.quantile(0.5)?.rounded ?? "–",
            times.quantile(0.99)?.rounded ?? "–", "\(part(seconds).map(\.load).max() ?? 0)", limits.min().map { "\($0)" } ?? "–",
            breakers.last { $0 != "closed" } ?? breakers.last ?? "–",
        ]
    }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        let factor = (0..<places).reduce(1.0) { product, _ in product * 10 }
        return (self * factor).rounded() / factor
    }

    var percent: String { "\(Int((self * 100).rounded())) %" }

    /// A share as a bar of ten places.
    var bar: String {
        let full = Int((Swift.min(Swift.max(self, 0), 1) * 10).rounded())
        return String(repeating: "█", count: full) + String(repeating: "·", count: 10 - full)
    }
}

extension Duration {
    var rounded: String { "\(Int((self / .milliseconds(1)).rounded())) ms" }
}
