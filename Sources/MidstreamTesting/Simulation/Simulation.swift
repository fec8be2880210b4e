internal import Foundation
internal import Interception
public import MidstreamCore

/// A run of your own clients against a modelled server, in a time that jumps from one event to the next.
///
/// ```swift
/// let report = try await Simulation(seed: 1) { world in
///     HTTPClient(configuration: world.configuration, transport: world.transport) { Resilience.standard }
/// } server: {
///     ServerModel(workers: 25, service: .exponential(mean: .milliseconds(100)))
/// } load: {
///     .poisson(perSecond: 200)
/// } during: {
///     .from(60, to: 70, .slower(4))
/// }.run(for: .seconds(120))
/// print(report)
/// ```
///
/// The clients are real ones with all of their interceptors; only the transport, the clock and the random numbers are the simulation's. Their
/// tasks run one after the other on one thread, so the same seed gives the same report. What starts detached tasks, waits on
/// another clock or looks at the real time isn't part of that.
@available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
public struct Simulation: Sendable {
    private let seed: UInt64
    private let client: @Sendable (SimulationWorld) throws -> HTTPClient
    private let server: ServerModel
    private let load: SimulatedLoad
    private let incidents: Incidents

    /// Describes a simulation.
    ///
    /// - Parameters:
    ///   - seed: Of all that is random in it.
    ///   - client: Makes a client; called once for each that the load asks for.
    ///   - server: What they talk to.
    ///   - load: What they are asked to do.
    ///   - incidents: What goes wrong; nothing by default.
    public init(
        seed: UInt64, client: @escaping @Sendable (SimulationWorld) throws -> HTTPClient, server: () -> ServerModel,
        load: () -> SimulatedLoad, @IncidentBuilder during incidents: () -> Incidents = { Incidents() }
    ) {
        self.seed = seed
        self.client = client
        self.server = server()
        self.load = load()
        self.incidents = incidents()
    }

    /// Runs it on a thread of its own. Calls that are open at the end are waited for.
    ///
    /// - Parameter duration: In the simulation's time, in whole seconds; at least one.
    /// - Throws: What the making of a client throws; `CancellationError` when the task is cancelled: no other calls begin then, and those that are
    ///   open are cancelled.
    public func run(for duration: Duration) async throws -> SimulationReport { try await run(for: duration, cancelling: nil) }

    func run(for duration: Duration, cancelling cancellation: SimulatedCancellation?) async throws -> SimulationReport {
        let seconds = Int(min(max(1, duration / .seconds(1)), 1e6))
        let random = SimulatedRandom(seed: seed)
        let clock = SimulatedClock()
        let simulatedServer = SimulatedServer(server, incidents, on: clock, random.split())
        let arrivals = random.split()
        let clients = try (0..<load.clientCount).map { number in
            try client(SimulationWorld(clock: clock, random: random.split(), transport: simulatedServer, client: number))
        }
        let run = SimulationRun(
            clients: clients, load: load, server: simulatedServer, clock: clock, random: arrivals, seconds: seconds,
            cancellation: cancellation)
        let report = Suspension<SimulationReport>()
        let ended = await withTaskCancellationHandler {
            Thread.detachNewThread { report.resume(run.run()) }
            return await report.value()
        } onCancel: {
            run.leave()
        }
        // It lacks the calls that weren't made.
        try Task.checkCancellation()
        return ended
    }
}
