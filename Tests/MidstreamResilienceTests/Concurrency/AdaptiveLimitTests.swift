import Testing

@testable import MidstreamResilience

@Suite("How an adaptive limit adapts", .timeLimit(.minutes(10)))
struct AdaptiveLimitTests {
    /// Answers for some seconds, a hundred in each.
    private func run(_ limit: inout AdaptiveLimit, from second: Int, seconds: Int, taking milliseconds: Int, inFlight: Int? = nil)
    {
        for tick in (second * 100)..<((second + seconds) * 100) {
            limit.answered(
                after: Int64(milliseconds) * 1_000_000, inFlight: inFlight ?? Int(limit.value), at: Int64(tick) * 10_000_000)
        }
    }

    @Test("it grows while answers come as fast as usual, up to its bound")
    func grows() {
        var limit = AdaptiveLimit(start: 20, in: 4...60)
        run(&limit, from: 0, seconds: 5, taking: 100)
        #expect(limit.value > 25)
        run(&limit, from: 5, seconds: 100, taking: 100)
        #expect(limit.value == 60)
    }

    @Test("it neither grows nor shrinks while less than half of it is used")
    func unused() {
        var limit = AdaptiveLimit(start: 20, in: 4...200)
        run(&limit, from: 0, seconds: 60, taking: 100, inFlight: 9)
        #expect(limit.value == 20)
        // As of an endpoint that takes longer than the others.
        run(&limit, from: 60, seconds: 10, taking: 1_000, inFlight: 9)
        #expect(limit.value == 20)
    }

    @Test("it shrinks when answers become slow, and comes back when they are fast again")
    func slow() {
        var limit = AdaptiveLimit(start: 50, in: 4...50)
        run(&limit, from: 0, seconds: 60, taking: 100)
        run(&limit, from: 60, seconds: 10, taking: 1_000)
        let low = limit.value
        #expect(low < 25)
        run(&limit, from: 70, seconds: 20, taking: 100)
        #expect(limit.value > low + 10)
    }

    @Test("a failure takes a tenth, once for all that were under way, down to its bound")
    func failures() {
        var limit = AdaptiveLimit(start: 20, in: 4...200)
        let isLower = limit.failed(begunAt: 0, at: 1_000)
        #expect(isLower && limit.value == 18)
        let isLowerAgain = limit.failed(begunAt: 999, at: 1_001)
        #expect(!isLowerAgain && limit.value == 18)
        for number in 1...100 { _ = limit.failed(begunAt: Int64(number) * 1_000, at: Int64(number) * 1_000 + 1) }
        #expect(limit.value == 4)
        let isLowest = !limit.failed(begunAt: .max, at: .max)
        #expect(isLowest)
    }

    @Test("strange bounds and times are bent into shape")
    func strange() {
        var limit = AdaptiveLimit(start: .max, in: -5...0)
        #expect(limit.value == 1)
        limit.answered(after: .min, inFlight: .max, at: .min)
        for _ in 0..<10 { limit.answered(after: .max, inFlight: 0, at: .max) }
        #expect(limit.value == 1)
    }
}
