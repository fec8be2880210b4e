public import MidstreamCore

/// Where a client stands with each server: what its interceptors know about limits, breakers and times. It prints itself as a table.
public struct ResilienceReport: Sendable, Hashable, CustomStringConvertible {
    /// What is known of one key.
    public struct Entry: Sendable, Hashable {
        /// An origin, or another key of a scope.
        public let key: String
        /// That of the ``ConcurrencyLimit``; nil when there is none.
        public internal(set) var concurrency: ConcurrencyLimit.State?
        /// That of the ``CircuitBreaker``; nil when there is none.
        public internal(set) var breaker: CircuitBreaker.State?
        /// Half of the heads of responses came within this time, in the last half minute to minute; nil when none came, or nobody measures.
        public internal(set) var p50: Duration?
        /// 95 of 100 came within this time.
        public internal(set) var p95: Duration?
    }

    /// By their keys, in order.
    public let entries: [Entry]
    /// The client's budget for retries; nil when it has none.
    public let budget: RetryBudget.State?

    /// That of a key; nil when nothing is known of it.
    public subscript(key: String) -> Entry? { entries.first { $0.key == key } }

    /// A line for each key, and one for the budget.
    public var description: String {
        var lines = [["", "limit", "under way", "wait", "breaker", "p50", "p95"]]
        for entry in entries {
            lines.append([
                entry.key, entry.concurrency.map { "\($0.limit)" } ?? "–", entry.concurrency.map { "\($0.inFlight)" } ?? "–",
                entry.concurrency.map { "\($0.queued)" } ?? "–", entry.breaker.map { "\($0)" } ?? "–",
                entry.p50?.brief ?? "–", entry.p95?.brief ?? "–",
            ])
        }
        var text = lines.asTable
        if let budget { text += "\nretries: \(budget.retries) of \(budget.calls) calls, \(budget.available) left" }
        return text
    }
}

extension HTTPClient {
    /// Where the client stands with each server, as its interceptors know: limits, breakers, times, and the budget for retries.
    ///
    /// ```swift
    /// print(client.resilience)
    /// ```
    public var resilience: ResilienceReport {
        var entries: [String: ResilienceReport.Entry] = [:]
        for case let source as any ResilienceSource in interceptors {
            source.report(to: &entries, on: configuration.clock)
        }
        return ResilienceReport(entries: entries.values.sorted { $0.key < $1.key }, budget: retryBudget)
    }
}

/// An interceptor that knows something about servers.
protocol ResilienceSource {
    /// Adds what it knows.
    func report(to entries: inout [String: ResilienceReport.Entry], on clock: any Clock<Duration>)
}

extension ConcurrencyLimit: ResilienceSource {
    func report(to entries: inout [String: ResilienceReport.Entry], on clock: any Clock<Duration>) {
        for (key, state, p50, p95) in reports(on: clock) {
            var entry = entries[key] ?? .init(key: key)
            entry.concurrency = state
            entry.p50 = entry.p50 ?? p50
            entry.p95 = entry.p95 ?? p95
            entries[key] = entry
        }
    }
}

extension Hedging: ResilienceSource {
    func report(to entries: inout [String: ResilienceReport.Entry], on clock: any Clock<Duration>) {
        for (key, p50, p95) in reports(on: clock) {
            var entry = entries[key] ?? .init(key: key)
            entry.p50 = entry.p50 ?? p50
            entry.p95 = entry.p95 ?? p95
            entries[key] = entry
        }
    }
}

extension CircuitBreaker: ResilienceSource {
    func report(to entries: inout [String: ResilienceReport.Entry], on clock: any Clock<Duration>) {
        for (key, state) in states(on: clock) { entries[key, default: .init(key: key)].breaker = state }
    }
}

extension [[String]] {
    /// Rows of cells as text: the first column to the left, the others to the right.
    fileprivate var asTable: String {
        let widths = (first ?? []).indices.map { column in map { $0[column].count }.max() ?? 0 }
        return map { row in
            zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
