import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Delays of the strategies", .leavesNothing)
struct BackoffTests {
    private let bench = ArbiterBench()

    /// The waits before the first retries, in seconds.
    private func delays(
        _ strategy: RetryStrategy, _ count: Int = 5, random: @escaping @Sendable () -> Double = { 1 }
    ) async -> [Duration] {
        let stub = StubTransport { HTTPResponse(status: $0.attempt <= count ? 500 : 200, request: $0) }
        let client = bench.client(stub, maxRetries: count, validators: [AlwaysRetry(strategy)]) { $0.random = random }
        return await bench.waits(count, of: client).delays
    }

    @Test("E4 immediate doesn't wait")
    func immediate() async throws {
        let stub = StubTransport(sequence: [.respond(500), .respond(500), .respond(200)])
        let client = bench.client(stub, maxRetries: 2, validators: [AlwaysRetry(.immediate)])
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(bench.clock.now.offset == .zero)
    }

    @Test("E4 delayed is constant, and less than nothing is nothing")
    func delayed() async throws {
        #expect(await delays(.delayed(.milliseconds(1_500)), 3) == Array(repeating: .milliseconds(1_500), count: 3))
        let stub = StubTransport(sequence: [.respond(500), .respond(200)])
        let client = bench.client(stub, maxRetries: 2, validators: [AlwaysRetry(.delayed(.seconds(-1)))])
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
    }

    @Test("E4 exponential is 0.5 s, doubling, at most 30 s, with full jitter")
    func exponential() async {
        #expect(
            await delays(.exponential(), 9)
                == [.milliseconds(500)] + [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        #expect(await delays(.exponential(), 3) { 0.5 } == [250, 500, 1_000].map { .milliseconds($0) })
        #expect(await delays(.exponential(jitter: .off), 2) { 0.5 } == [.milliseconds(500), .seconds(1)])
    }

    @Test("E4 exponential takes base, multiplier and cap")
    func exponentialOfOnesOwn() async {
        #expect(
            await delays(.exponential(base: .seconds(2), multiplier: 3, cap: .seconds(20)), 4)
                == [2, 6, 18, 20].map { .seconds($0) })
        #expect(await delays(.exponential(base: .seconds(9), cap: .seconds(4)), 2) == [.seconds(4), .seconds(4)])
        #expect(await delays(.exponential(base: .seconds(1), multiplier: 1), 3) == [1, 1, 1].map { .seconds($0) })
    }

    @Test("E4 a multiplier that is no number, or huge, gives the cap", arguments: [Double.infinity, .nan, 1e300])
    func oddMultiplier(multiplier: Double) async {
        #expect(await delays(.exponential(multiplier: multiplier, cap: .seconds(7)), 2) == [.milliseconds(500), .seconds(7)])
        let cap = Duration.seconds(Int64.max / 4)
        let strategy = RetryStrategy.exponential(multiplier: multiplier, cap: cap, jitter: .off)
        // Longer than a clock is asked to sleep.
        #expect(strategy.delay(beforeRetry: 2, previous: nil, of: HTTPRequest("/")) { 1 } == cap)
    }

    @Test("E4 a multiplier below zero doesn't wait", arguments: [-1, -Double.infinity])
    func negativeMultiplier(multiplier: Double) async throws {
        let stub = StubTransport { HTTPResponse(status: $0.attempt <= 3 ? 500 : 200, request: $0) }
        let client = bench.client(
            stub, maxRetries: 3, validators: [AlwaysRetry(.exponential(base: .seconds(1), multiplier: multiplier))])
        #expect(await bench.waits(1, of: client).delays == [.seconds(1)])
        #expect(stub.requests.count == 4)
    }

    @Test("E4 full jitter takes a random share of the delay")
    func fullJitter() async {
        let shares = Locked([0.5, 0.25, 1.0, 0.125])
        let delays = await delays(.exponential(base: .seconds(1), jitter: .full), 4) { shares.withLock { $0.removeFirst() } }
        #expect(delays == [.milliseconds(500), .milliseconds(500), .seconds(4), .seconds(1)])
    }

    @Test("E4 decorrelated jitter is between the base and three times the delay before, at most the cap")
    func decorrelatedJitter() async {
        let shares = Locked([0.5, 1, 0, 1, 1, 1])
        let delays = await delays(.exponential(base: .seconds(1), cap: .seconds(20), jitter: .decorrelated), 6) {
            shares.withLock { $0.removeFirst() }
        }
        // 1 + (3−1)/2 = 2; 1 + (6−1) = 6; 1; 3; 9; 27, cut.
        #expect(delays == [2, 6, 1, 3, 9, 20].map { .seconds($0) })
    }

    @Test(
        "E4 random numbers that are no shares count as the nearest one",
        arguments: [(.nan, 1), (-1, 1), (-.infinity, 1), (1e300, 3), (.infinity, 3)] as [(Double, Int)])
    func oddRandom(number: Double, seconds: Int) async {
        let strategy = RetryStrategy.exponential(base: .seconds(1), jitter: .decorrelated)
        #expect(await delays(strategy, 1) { number } == [.seconds(seconds)])
    }

    @Test("E4 fibonacci is 1, 1, 2, 3, 5, 8 … units")
    func fibonacci() async {
        #expect(await delays(.fibonacci(), 7) == [1, 1, 2, 3, 5, 8, 13].map { .seconds($0) })
        #expect(
            await delays(.fibonacci(unit: .milliseconds(100), cap: .milliseconds(400)), 6)
                == [100, 100, 200, 300, 400, 400].map { .milliseconds($0) })
    }

    @Test("E4 a fibonacci unit of nothing or less doesn't wait", arguments: [Duration.zero, .seconds(-1)])
    func fibonacciOfNothing(unit: Duration) async {
        let stub = StubTransport(status: 500)
        let client = bench.client(stub, maxRetries: 200, validators: [AlwaysRetry(.fibonacci(unit: unit))])
        _ = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(stub.requests.count == 201)
    }

    @Test("E4 custom asks the closure, which gets the failed request")
    func custom() async {
        #expect(await delays(.custom { .seconds($0.attempt * 7) }, 3) == [7, 14, 21].map { .seconds($0) })
    }

    @Test("E4 many retries don't overflow")
    func manyRetries() async {
        let stub = StubTransport { HTTPResponse(status: $0.attempt <= 120 ? 500 : 200, request: $0) }
        for strategy in [RetryStrategy.exponential(jitter: .off), .fibonacci(), .exponential(jitter: .decorrelated)] {
            let client = bench.client(stub, maxRetries: 120, validators: [AlwaysRetry(strategy)]) { $0.random = { 0.999 } }
            let delays = await bench.waits(120, of: client).delays
            #expect(delays.last == .seconds(30))
        }
    }
}
