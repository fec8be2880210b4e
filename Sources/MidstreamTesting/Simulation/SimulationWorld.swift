internal import Foundation
public import MidstreamCore

/// What a simulated client is made of.
public struct SimulationWorld: Sendable {
    /// The simulation's clock.
    public let clock: SimulatedClock
    /// Numbers that are the same whenever the seed is the same.
    public let random: SimulatedRandom
    /// Leads to the simulated server.
    public let transport: any HTTPTransport
    /// Which of the load's clients is made; 0 for the first.
    public let client: Int

    /// A configuration with the simulation's time and random numbers, and without traces, which would take time.
    public var configuration: HTTPClient.Configuration {
        let (clock, random) = (clock, random)
        return HTTPClient.Configuration(
            clock: clock, now: { Date(timeIntervalSince1970: 1_800_000_000 + clock.now.offset / .seconds(1)) },
            random: { random.share() }, recordsTrace: false)
    }
}
