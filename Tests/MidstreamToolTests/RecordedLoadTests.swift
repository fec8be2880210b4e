import Foundation
import MidstreamTelemetry
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("The calls of a simulation", .leavesNothing, .timeLimit(.minutes(10)))
struct RecordedLoadTests {
    /// Of calls that begin so many seconds after the hour, each of which took so many milliseconds.
    private func load(_ starts: [Double], _ time: Double = 100, rate: Double? = nil, seconds: Int = 20) throws -> RecordedLoad {
        let entries = starts.map { start in
            let date = Date(timeIntervalSince1970: start).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            return #"{"startedDateTime": "\#(date)", "request": {"url": "https://a/"}, "response": {"status": 200},"#
                + #""timings": {"wait": \#(time)}}"#
        }
        let archive = try HARArchive(Data(#"{"log": {"entries": [\#(entries.joined(separator: ","))]}}"#.utf8))
        return try RecordedLoad(try #require(archive.pace), rate: rate, seconds: seconds)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    private func calls(_ load: RecordedLoad, seconds: Int = 20) async throws -> [Int] {
        try await Simulation(seed: 1) { world in
            testClient(configuration: world.configuration, transport: world.transport)
        } server: {
            ServerModel(workers: load.workers, service: .constant(.milliseconds(1)))
        } load: {
            load.load
        }.run(for: .seconds(seconds)).rows.map(\.calls)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("they begin when they were recorded, again and again where the record is short")
    func repeated() async throws {
        // Nine calls in a second, one three seconds later, and as much time behind that as there is between two on average.
        let load = try load([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 3.6], 150)
        #expect(try await calls(load) == [9, 0, 0, 1, 9, 0, 0, 1, 9, 0, 0, 1, 9, 0, 0, 1, 9, 0, 0, 1])
        #expect(
            "\(load)"
                == "the recorded calls, repeated after 4 s, 2.5 a second, to 2 workers of the recorded times (19 % load)")
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("of a long record the beginning is enough")
    func long() async throws {
        let load = try load([0, 1, 1, 1, 1, 5, 5, 19.5, 20, 21, 100], 10)
        #expect(try await calls(load) == [1, 4, 0, 0, 0, 2] + Array(repeating: 0, count: 13) + [1])
        #expect("\(load)".hasPrefix("the recorded calls of the first 20 s, 0.4 a second, to 4 workers"))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("of many calls a part is made, to a server that is as much smaller; bursts stay what they were")
    func part() async throws {
        // In the first half of each second 1,000 calls, in the other half none.
        let load = try load((0..<10_001).map { Double($0 / 1_000) + Double($0 % 1_000) / 2_000 }, 50, seconds: 10)
        let calls = try await calls(load, seconds: 10)
        #expect(calls.allSatisfy { abs($0 - 200) <= 1 }, "\(calls)")
        // 100 of the whole server's workers had something to do, of which a fifth is left.
        #expect("\(load)".contains("20 % of the recorded calls of the first 10 s, 200 a second"), "\(load)")
        #expect(abs(load.workers - 20) <= 1, "\(load)")
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("a burst that is repeated too often isn't lost with its part")
    func shortBurst() async throws {
        let load = try load((0..<10).map { Double($0) / 1_000 })
        #expect(try await calls(load).reduce(0, +) == 4_000)
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test("a rate draws them at random, for which calls that began at one moment will do")
    func rate() async throws {
        let burst = Array(repeating: 0.0, count: 12)
        #expect(throws: UsageError.self) { try self.load(burst) }
        let load = try self.load(burst, rate: 50)
        let calls = try await calls(load)
        #expect(abs(calls.reduce(0, +) - 1_000) < 130 && Set(calls).count > 5, "\(calls)")
        #expect("\(load)" == "calls at random, 50 a second, to 7 workers of the recorded times (71 % load)")
        #expect("\(try self.load(burst, rate: 1_000))".hasPrefix("calls at random, 200 a second, to 25 workers"))
    }
}
