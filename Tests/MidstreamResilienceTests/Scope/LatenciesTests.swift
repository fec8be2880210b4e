import Testing

@testable import MidstreamResilience

@Suite("How long answers take", .timeLimit(.minutes(10)))
struct LatenciesTests {
    @Test("quantiles are right to an eighth")
    func quantiles() throws {
        var latencies = Latencies()
        #expect(latencies.quantile(0.5) == nil)
        for number in 1...1_000 { latencies.record(Int64(number) * 1_000_000, at: 0) }
        for (share, milliseconds) in [(0.5, 500.0), (0.95, 950), (0.99, 990), (1, 1_000)] {
            let found = try #require(latencies.quantile(share)) / .milliseconds(1)
            #expect(found >= milliseconds && found <= milliseconds * 1.125)
        }
    }

    @Test("any number has a bucket")
    func extremes() {
        var latencies = Latencies()
        for value in [Int64.min, -1, 0, 1, 65_535, 65_536, 1 << 40, .max] { latencies.record(value, at: 0) }
        #expect(latencies.count == 8)
        #expect(latencies.quantile(-1) != nil && latencies.quantile(2) != nil)
    }

    @Test("what is a minute old is forgotten")
    func moves() throws {
        var latencies = Latencies()
        for _ in 0..<100 { latencies.record(1_000_000_000, at: 0) }
        latencies.record(1_000_000, at: 31_000_000_000)
        #expect(latencies.count == 101)
        latencies.record(1_000_000, at: 62_000_000_000)
        #expect(latencies.count == 2)
        #expect(try #require(latencies.quantile(1)) < .milliseconds(2))
        latencies.record(1_000_000, at: 300_000_000_000)
        #expect(latencies.count == 1)
    }
}
