public import MidstreamCore
internal import MidstreamResilience

/// What an outage does to clients that differ in one thing: the same load, the same server, the same seed. It prints itself as a table.
@available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
public struct OutageComparison: Sendable, CustomStringConvertible {
    /// One client.
    public struct Row: Sendable {
        /// Its name.
        public let name: String
        /// The share of calls that succeeded before the outage.
        public let goodputBefore: Double
        /// The share of calls that succeeded in the outage.
        public let goodputDuring: Double
        /// How many requests were sent for each call in the outage.
        public let sendsPerCall: Double
        /// How many seconds after the outage the calls succeeded again; nil: not within the simulation.
        public let recovery: Int?
        /// All of it.
        public let report: SimulationReport
    }

    /// In the order given.
    public let rows: [Row]

    /// Simulates an outage with each of several clients.
    ///
    /// - Parameters:
    ///   - outage: The seconds of the outage.
    ///   - duration: That of each simulation, in seconds.
    ///   - seed: The same for all.
    ///   - clients: By their names.
    ///   - server: What they talk to.
    ///   - load: What they are asked to do.
    ///   - effect: What goes wrong in the outage.
    /// - Throws: What the making of a client throws; `CancellationError` when the task is cancelled.
    public init(
        of outage: Range<Int>, within duration: Int, seed: UInt64 = 1,
        clients: KeyValuePairs<String, @Sendable (SimulationWorld) throws -> HTTPClient>, server: ServerModel,
        load: SimulatedLoad, effect: Incidents.Effect
    ) async throws {
        var rows: [Row] = []
        for (name, client) in clients {
            let report = try await Simulation(seed: seed, client: client) {
                server
            } load: {
                load
            } during: {
                .from(Double(outage.lowerBound), to: Double(outage.upperBound), effect)
            }.run(for: .seconds(duration))
            rows.append(
                Row(
                    name: name, goodputBefore: report.goodput(0..<max(0, outage.lowerBound)),
                    goodputDuring: report.goodput(outage), sendsPerCall: report.sendsPerCall(outage),
                    recovery: report.recovery(after: outage.upperBound), report: report))
        }
        self.rows = rows
    }

    /// A line for each client.
    public var description: String {
        let head = ["", "before", "during", "sends/call", "recovered after"]
        return
            ([head]
            + rows.map { row in
                [
                    row.name, row.goodputBefore.percent, row.goodputDuring.percent, "\(row.sendsPerCall.rounded(toPlaces: 2))",
                    row.recovery.map { "\($0) s" } ?? "never",
                ]
            }).asTable
    }
}
