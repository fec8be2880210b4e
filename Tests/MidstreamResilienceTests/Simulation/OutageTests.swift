import MidstreamCore
import MidstreamResilience
import MidstreamTesting
import Testing

@Suite("What an outage does to a loaded server", .timeLimit(.minutes(5)))
struct OutageTests {
    @Test func look() async throws {
        for policy in Policy.allCases {
            for (slower, load) in [(4.0, 200.0), (20, 200), (20, 150)] {
                let report = try await policy.outage(slower: slower, perSecond: load)
                print(policy, slower, load, "recovery:", report.recovery(after: 70) as Any, report.sendsPerCall(60..<70), report.sendsPerCall(70..<200), report.goodput(0..<60), report.goodput(60..<70), report.jobs, report.realTime)
                if slower == 4, policy == .adaptiveLimit { print(report) }
            }
        }
    }
}
