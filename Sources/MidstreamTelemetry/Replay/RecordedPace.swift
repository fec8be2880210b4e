internal import Foundation

extension HARArchive {
    /// When calls began, and how long the server took. What a cache answered is none of it: the server never saw it.
    package struct Pace: Sendable {
        /// When each call began, in order; the first at 0.
        package let arrivals: [Duration]
        /// How long the server took for each exchange that it answered, the shortest first.
        package let times: [Duration]
        /// How many exchanges that it answered the server had at once, at most.
        package let concurrency: Int
    }

    /// Nil where there are too few answers to tell, which is less than ten.
    package var pace: Pace? {
        let exchanges = entries.filter { $0._fromCache == nil }
        let times = exchanges.compactMap(\.serviceTime).sorted()
        // Of each call that of its first exchange.
        let starts = exchanges.byCall.compactMap { $0.compactMap(\.start).min() }.sorted()
        guard times.count >= 10, let first = starts.first else { return nil }
        return Pace(
            arrivals: starts.map { .milliseconds(1) * ($0.timeIntervalSince(first) * 1_000).rounded() }, times: times,
            concurrency: Self.concurrency(of: exchanges))
    }

    private static func concurrency(of exchanges: [HAREntry]) -> Int {
        let changes = exchanges.flatMap { exchange -> [(at: Date, change: Int)] in
            guard let start = exchange.start, let time = exchange.serviceTime else { return [] }
            return [(start, 1), (start + time / .seconds(1), -1)]
        }
        var (now, most) = (0, 0)
        // One that ends where another begins isn't beside it.
        for (_, change) in changes.sorted(by: { ($0.at, $0.change) < ($1.at, $1.change) }) {
            now += change
            most = max(most, now)
        }
        return most
    }
}

extension HAREntry {
    /// Nil where it isn't known, or no time of a day. How long it took until there was no answer isn't the server's time.
    fileprivate var serviceTime: Duration? {
        response.status != 0 && 0 < timings.wait && timings.wait <= 86_400_000 ? .milliseconds(1) * timings.wait : nil
    }
}
