import Foundation
import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamResilience
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamFleet

@Suite("A fleet in simulations", .leavesNothing, .timeLimit(.minutes(10)))
struct SimulationTests {
    /// What went on in one.
    private struct Outcome {
        let report: SimulationReport
        let issuer: Issuer.Counts
        let forgets: Int
    }

    /// Four members, whose store is delayed, paused from the 5th to the 8th second, loses messages from the 10th to the 12th and forgets
    /// everything at the 14th.
    private func run(seed: UInt64) async throws -> Outcome {
        let model = Locked<ModelStore?>(nil)
        let issuer = Locked<Issuer?>(nil)
        let forgets = Locked(0)
        let report = try await Simulation(seed: seed) { world in
            let (clock, random) = (world.clock, world.random)
            let store = model.withLock { model in
                let store = model ?? ModelStore(clock)
                model = store
                return store
            }
            let theirs = issuer.withLock { issuer in
                let present =
                    issuer
                    ?? Issuer(life: 3) {
                        try await clock.sleep(for: .milliseconds(Int(random.share() * 100)))
                    } after: {
                        try await clock.sleep(for: .milliseconds(Int(random.share() * 100)))
                    }
                issuer = present
                return present
            }
            let link = ModelLink(store) {
                let now = store.stopwatch.elapsed
                if now >= .seconds(14), forgets.withLock({ $0 }) == 0, store.forget() { forgets.withLock { $0 = 1 } }
                switch now {
                case .seconds(5)..<(.seconds(8)): return .isLost
                case .seconds(10)..<(.seconds(12)):
                    let share = random.share()
                    if share < 0.2 { return .isLost }
                    if share < 0.4 { return .isAnsweredLate }
                default: break
                }
                return .arrives(after: .microseconds(Int(random.share() * 5_000)))
            }
            let core = FleetCore(name: "f", key: testKey, member: "\(world.client)", clock: clock, store: link)
            let fleet = Fleet(core)
            var configuration = world.configuration
            configuration.validators = [DefaultValidator()]
            let transport = StubTransport { [transport = world.transport] request in
                let response = try await transport.send(request)
                let isGood = theirs.current.map { "Bearer \($0)" } == request.headers[.authorization]
                return isGood ? response : HTTPResponse(status: 401, request: request)
            }
            return HTTPClient(configuration: configuration, transport: transport) {
                AuthenticationInterceptor(
                    fleet.sharing(theirs.authenticator(now: configuration.now), as: "t", whenAlone: .waits),
                    credential: theirs.first, origins: ["https://server.test"], clock: clock)
                RateLimit(quota: fleet.quota("q", perSecond: 50, burst: 50))
            }
        } server: {
            ServerModel(workers: 100, service: .exponential(mean: .milliseconds(10)))
        } load: {
            .poisson(perSecond: 40).clients(4)
        }.run(for: .seconds(30))
        return Outcome(
            report: report, issuer: issuer.withLock { $0?.counts } ?? .init(), forgets: forgets.withLock { $0 })
    }

    /// `Scripts/check fleet` tries a hundred.
    private static let count = ProcessInfo.processInfo.environment["MIDSTREAM_FLEET_ROUNDS"] == nil ? 10 : 100

    @Test("never spends a refresh token twice, and serves all calls")
    func seeds() async throws {
        for seed in 0..<UInt64(Self.count) {
            let outcome = try await run(seed: seed)
            #expect(outcome.issuer.reuses == 0, "seed \(seed)")
            #expect(outcome.issuer.refreshes >= 8 && outcome.issuer.refreshes <= 14, "seed \(seed): \(outcome.issuer)")
            #expect(outcome.forgets == 1, "seed \(seed)")
            #expect(outcome.report.stalled.isEmpty, "seed \(seed)")
            // The first token and the one after the loss come late, and all others within a moment.
            #expect(outcome.report.goodput(0..<30) > 0.99, "seed \(seed): \(outcome.report)")
        }
    }
}
