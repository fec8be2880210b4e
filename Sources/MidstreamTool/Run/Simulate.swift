import Midstream
import MidstreamTelemetry
import MidstreamTesting

/// What clients would do if the server of an archive became slow: `midst simulate`.
struct Simulate {
    let file: String
    let arguments: Arguments

    /// The seconds before the outage.
    private static let before = 30
    /// Those behind it.
    private static let after = 120

    func run() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            throw UsageError("simulations need macOS 15 or Linux")
        }
        let target = try arguments.output.map { try PageTarget($0, of: file) }
        guard let pace = try HARArchive(contentsOf: file).pace else {
            throw UsageError("the archive has too few exchanges to tell how fast the server is")
        }
        let timeout = max(.seconds(1), pace.times[pace.times.count * 99 / 100] * 4)
        let outage = Self.before..<Self.before + arguments.outage
        let seconds = outage.upperBound + Self.after
        let recorded = try RecordedLoad(pace, rate: arguments.rate, seconds: seconds)
        let comparison = try await OutageComparison(
            of: outage, within: seconds, clients: Self.clients(timeout: timeout),
            server: ServerModel(workers: recorded.workers, service: .samples(pace.times)), load: recorded.load,
            effect: .slower(arguments.slowness))
        let whole = Int(exactly: arguments.slowness)
        let factor = whole.map(String.init) ?? "\(arguments.slowness)"
        let table = """
            \(recorded), an attempt's timeout of \(timeout);
            for \(arguments.outage) s the server is \(factor) times slower

            \(comparison)
            """
        if target?.isStandardOutput == true { Terminal.printError(table) } else { try Terminal.print(table) }
        guard let target, let standard = comparison.rows.last else { return }
        try target.write(standard.report.html(title: standard.name))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func clients(
        timeout: Duration
    ) -> KeyValuePairs<String, @Sendable (SimulationWorld) throws -> HTTPClient> {
        @Sendable func client(
            _ world: SimulationWorld, retries: Int, @PipelineBuilder _ interceptors: () -> [any HTTPInterceptor] = { [] },
            change: (inout HTTPClient.Configuration) -> Void = { _ in }
        ) -> HTTPClient {
            var configuration = world.configuration
            configuration.timeout = timeout
            configuration.maxRetries = retries
            change(&configuration)
            return HTTPClient(configuration: configuration, transport: world.transport, interceptors: interceptors)
        }
        return [
            "no retries": { client($0, retries: 0) },
            "3 retries, no budget": { client($0, retries: 3, change: { $0.retryBudget = nil }) },
            "3 retries, the default budget": { client($0, retries: 3) },
            "and CircuitBreaker()": { client($0, retries: 3, { CircuitBreaker() }) },
            "Resilience.standard": { client($0, retries: 3, { Resilience.standard }) },
        ]
    }
}
