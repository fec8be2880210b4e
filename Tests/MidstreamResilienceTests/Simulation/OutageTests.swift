import Foundation
import MidstreamCore
import MidstreamResilience
import MidstreamTesting
import TestSupport
import Testing

/// The figures of a slow server, on a loaded one: `Scripts/bench resilience` prints the whole table.
@Suite("What an outage does to a loaded server", .leavesNothing, .timeLimit(.minutes(10)))
struct OutageTests {
    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test(
        "with retries alone it stays useless long after the outage, and a budget helps little",
        arguments: [(Policy.unboundedRetries, 60), (.defaultBudget, 30)])
    func metastable(policy: Policy, seconds: Int) async throws {
        let report = try await policy.outage(slower: 4, perSecond: 200, seconds: 130)
        #expect(report.goodput(40..<60) > 0.99)
        #expect(report.recovery(after: 70) ?? .max >= seconds)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("with the standard set it recovers within 5 s, and little is sent meanwhile", arguments: [4.0, 20])
    func standard(slower: Double) async throws {
        let report = try await Policy.standard.outage(slower: slower, perSecond: 200, seconds: 90)
        #expect(report.goodput(40..<60) > 0.99)
        #expect(try #require(report.recovery(after: 70)) <= 5)
        #expect(report.sendsPerCall(60..<70) <= 0.4)
        #expect(report.stalled.isEmpty)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("the same seed gives the same report, byte for byte")
    func deterministic() async throws {
        let first = try await Policy.standard.outage(slower: 4, perSecond: 50, seconds: 20)
        let second = try await Policy.standard.outage(slower: 4, perSecond: 50, seconds: 20)
        let other = try await Policy.standard.outage(slower: 4, perSecond: 50, seed: 2, seconds: 20)
        #expect("\(first)" == "\(second)" && first.jobs == second.jobs && first.rows == second.rows)
        #expect("\(first)" != "\(other)")
    }

    #if os(Linux)
        /// All that a run shows, but for the time that it took.
        @Sendable private static func text() async throws -> String {
            let report = try await Policy.standard.outage(slower: 4, perSecond: 20, seconds: 70)
            return "\(report)\n\(report.html())\n\(report.rows)\n\(report.jobs)"
        }

        @Test("the same in two processes, whose hash seeds differ")
        func processes() async throws {
            var outputs: [String] = []
            for _ in 0..<2 {
                let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    print("report:", try await Self.text(), "end of report")
                }
                let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
                outputs.append(try #require(output.range(of: "report:").map { String(output[$0.lowerBound...]) }))
            }
            #expect(outputs[0] == outputs[1])
            #expect(outputs[0].contains(try await Self.text()))
        }
    #endif
}
