import Testing

@testable import MidstreamResilience

@Suite("How long answers take", .timeLimit(.minutes(10)))
struct LatenciesTests {
    @Test("quantiles are right to an eighth")
    func quantiles() throws {
        var latencies = Latencies()
        #expect(latencies.quantile(0.5, at: 0) == nil)
        for number in 1...1_000 { latencies.record(Int64(number) * 1_000_000, at: 0) }
        for (share, milliseconds) in [(0.5, 500.0), (0.95, 950), (0.99, 990), (1, 1_000)] {
            let found = try #require(latencies.quantile(share, at: 0)) / .milliseconds(1)
            #expect(found >= milliseconds && found <= milliseconds * 1.125)
        }
    }

    @Test("any number has a bucket")
    func extremes() {
        var latencies = Latencies()
        for value in [Int64.min, -1, 0, 1, 65_535, 65_536, 1 << 40, .max] { latencies.record(value, at: 0) }
        #expect(latencies.count(at: 0) == 8)
        for share in [Double.nan, .infinity, -1, 2] { #expect(latencies.quantile(share, at: 0) != nil) }
    }

    @Test("what is a minute old is forgotten")
    func moves() throws {
        var latencies = Latencies()
        for _ in 0..<100 { latencies.record(1_000_000_000, at: 0) }
        latencies.record(1_000_000, at: 31_000_000_000)
        #expect(latencies.count(at: 31_000_000_000) == 101)
        latencies.record(1_000_000, at: 62_000_000_000)
        #expect(latencies.count(at: 62_000_000_000) == 2)
        #expect(try #require(latencies.quantile(1, at: 62_000_000_000)) < .milliseconds(2))
        latencies.record(1_000_000, at: 300_000_000_000)
        #expect(latencies.count(at: 300_000_000_000) == 1)
        #expect(latencies.quantile(1, at: 359_999_999_999) != nil && latencies.quantile(1, at: 360_000_000_000) == nil)
    }

    @Test("a quantile is kept up to date by few answers, and forgotten without enough of them")
    func running() {
        let second: Int64 = 1_000_000_000
        var usual = RunningQuantile(0.5, from: 20)
        for number in 0..<100 { usual.record(5_000_000, at: Int64(number) * second) }
        #expect(usual.value(at: 100 * second) ?? 0 < 6_000_000)
        // One a second: too few to be looked at for their number.
        for number in 100..<200 { usual.record(200_000_000, at: Int64(number) * second) }
        #expect(usual.value(at: 200 * second) ?? 0 > 190_000_000)
        // One a minute: never enough.
        for number in 1...180 { usual.record(50_000_000, at: Int64(200 + 60 * number) * second) }
        #expect(usual.value(at: 11_000 * second) == nil)
    }
}
