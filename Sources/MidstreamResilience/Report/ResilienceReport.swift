public import MidstreamCore

/// The limits, breakers and response times of a client's interceptors, by origin. Its description is a table.
public struct ResilienceReport: Sendable, Hashable, CustomStringConvertible {
    /// The figures of one key.
    public struct Entry: Sendable, Hashable {
        /// An origin, or another key of a scope.
        public let key: String
        /// That of the ``ConcurrencyLimit``; nil when there is none.
        public fileprivate(set) var concurrency: ConcurrencyLimit.State?
        /// That of the ``CircuitBreaker``; nil when there is none.
        public fileprivate(set) var breaker: CircuitBreaker.State?
        /// The median time until the head of a response that was streamed, or the end of the body of any other, in the last half minute to
        /// minute; nil when there was none, or no interceptor measures it.
        public fileprivate(set) var p50: Duration?
        /// The 95th percentile.
        public fileprivate(set) var p95: Duration?
    }

    /// In the order of their keys.
    public let entries: [Entry]
    /// The client's budget for retries; nil when it has none.
    public let budget: RetryBudget.State?

    /// The entry of a key; nil when there is none.
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
    /// The state of the client's limits, breakers and budget for retries, and its response times, by origin.
    ///
    /// ```swift
    /// print(client.resilience)
    /// ```
    public var resilience: ResilienceReport {
        var entries: [String: ResilienceReport.Entry] = [:]
        for interceptor in interceptors {
            switch interceptor {
            case let limit as ConcurrencyLimit:
                let now = limit.table.time.now(on: configuration.clock)
                for (key, permits) in limit.table.all {
                    entries[key, default: .init(key: key)].concurrency = permits.snapshot
                    entries[key]?.addTimes { permits.quantile($0, at: now) }
                }
            case let hedging as Hedging:
                let now = hedging.table.time.now(on: configuration.clock)
                for (key, account) in hedging.table.all {
                    entries[key, default: .init(key: key)].addTimes { account.quantile($0, at: now) }
                }
            case let breaker as CircuitBreaker:
                let now = breaker.table.time.now(on: configuration.clock)
                for (key, circuit) in breaker.table.all {
                    entries[key, default: .init(key: key)].breaker = circuit.publicState(at: now)
                }
            default: break
            }
        }
        return ResilienceReport(entries: entries.values.sorted { $0.key < $1.key }, budget: retryBudget)
    }
}

extension ResilienceReport.Entry {
    /// Adds what no interceptor before has measured.
    fileprivate mutating func addTimes(_ quantile: (Double) -> Duration?) {
        p50 = p50 ?? quantile(0.5)
        p95 = p95 ?? quantile(0.95)
    }
}

extension [[String]] {
    /// Rows of cells as text: the first column to the left, the others to the right.
    package var asTable: String {
        let widths = (first ?? []).indices.map { column in map { $0[column].count }.max() ?? 0 }
        return map { row in
            zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
