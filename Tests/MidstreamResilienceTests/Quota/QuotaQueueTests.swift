import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("Those who wait for a quota", .leavesNothing, .timeLimit(.minutes(10)))
struct QuotaQueueTests {
    private let bench = ArbiterBench()
    private var clock: TestClock { bench.clock }

    /// Requests that wait for a quota of one a second, and when they were sent.
    private final class Line: Sendable {
        private let bench: ArbiterBench
        private let client: HTTPClient
        private let limit = RateLimit(perSecond: 1, burst: 1, maximumWait: .seconds(60))
        private let sent: Locked<[String: Duration]>
        private let calls = Locked<[String: Task<Void, Never>]>([:])

        init(_ bench: ArbiterBench) async throws {
            let sent = Locked<[String: Duration]>([:])
            let clock = bench.clock
            let stub = StubTransport { request in
                sent.withLock { $0[request.headers["Name"] ?? ""] = clock.now.offset }
                return HTTPResponse(status: 200, request: request)
            }
            (self.bench, self.sent) = (bench, sent)
            client = bench.client(stub, interceptors: { [limit] in limit })
            _ = try await client.send(HTTPRequest("/", headers: ["Name": "first"]))
        }

        private var waiting: Int { limit.table.all.first?.state.general.waiting ?? 0 }

        /// Adds one behind the others, who waits when this returns.
        func add(_ name: String) async {
            let request = HTTPRequest("/", headers: ["Name": "\(name)"])
            let waiting = waiting
            let call = Task { [client] in _ = try? await client.send(request) }
            calls.withLock { $0[name] = call }
            await eventually { self.waiting == waiting + 1 }
            await bench.clock.waitForSleepers(1)
        }

        /// Has one leave, who is gone when this returns.
        func leave(_ name: String) async {
            let call = calls.withLock { $0.removeValue(forKey: name) }
            call?.cancel()
            await call?.value
        }

        /// Moves the time until all are sent.
        func times() async -> [String: Duration] {
            while waiting > 0 {
                let waiting = waiting
                // The first alone watches the time.
                await eventually { self.bench.clock.sleepers > 0 }
                guard let next = bench.clock.nextDeadline else { continue }
                bench.clock.advance(to: next)
                await eventually { self.waiting < waiting }
            }
            for (_, call) in calls.withLock({ $0 }) { await call.value }
            return sent.withLock { $0 }
        }
    }

    private var timer: ClockTimer { ClockTimer(bench.clock) }
    private var queue: QuotaQueue { QuotaQueue(TokenBucket(rate: 1, burst: 1, isAdaptive: false)) }

    private func place(in queue: QuotaQueue, waitingAtMost most: Int64 = .max) -> QuotaQueue.Place? {
        guard case .waits(let place, _) = queue.enter(at: 0, waitingAtMost: most) else { return nil }
        return place
    }

    private func refusal(of place: QuotaQueue.Place, in queue: QuotaQueue) async throws -> Int64? {
        try await queue.wait(place, on: timer) { [bench] in bench.clock.now.offset.wholeNanoseconds }
    }

    private func wait(_ place: QuotaQueue.Place, in queue: QuotaQueue) async throws {
        let tooLong = try await refusal(of: place, in: queue)
        #expect(tooLong == nil)
    }

    @Test("go one by one, however many places were given back")
    func givenBackBeyondBurst() {
        let queue = queue
        for _ in 0..<3 { queue.giveBack(at: 0) }
        if case .granted = queue.enter(at: 0, waitingAtMost: 0), case .refused = queue.enter(at: 0, waitingAtMost: 0) { return }
        Issue.record("Not just one has a place.")
    }

    @Test("move up when somebody before them leaves")
    func middle() async throws {
        let line = try await Line(bench)
        for name in ["a", "b", "c", "d"] { await line.add(name) }
        await line.leave("b")
        #expect(await line.times() == ["first": .zero, "a": .seconds(1), "c": .seconds(2), "d": .seconds(3)])
        await eventually { bench.clock.sleepers == 0 }
    }

    @Test("move up when the first leaves, and those who come then stand behind them")
    func first() async throws {
        let line = try await Line(bench)
        for name in ["a", "b"] { await line.add(name) }
        bench.clock.advance(by: .milliseconds(400))
        await line.leave("a")
        await line.add("c")
        #expect(await line.times() == ["first": .zero, "b": .seconds(1), "c": .seconds(2)])
    }

    @Test("move up several times, as several leave")
    func several() async throws {
        let line = try await Line(bench)
        for name in ["a", "b", "c", "d", "e"] { await line.add(name) }
        for name in ["d", "a", "b"] { await line.leave(name) }
        #expect(await line.times() == ["first": .zero, "c": .seconds(1), "e": .seconds(2)])
    }

    @Test("move up when somebody's deadline passes")
    func deadline() async throws {
        let queue = queue
        #expect(queue.takeAtOnce(at: 0))
        let (a, b) = (try #require(place(in: queue)), try #require(place(in: queue)))
        let first = Task {
            try await TimeLimit(.milliseconds(500), on: clock).run(error: { _ in .timedOut() }) { try await wait(a, in: queue) }
        }
        async let second: Void = wait(b, in: queue)
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(500))
        #expect(await first.result.httpError?.code == .timeout)
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(500))
        try await second
        #expect(queue.waiting == 0)
    }

    @Test("aren't let in for a wait that is too long, and take nothing then")
    func tooLong() {
        let queue = queue
        #expect(queue.takeAtOnce(at: 0))
        for _ in 0..<3 {
            guard case .refused(wait: 1_000_000_000) = queue.enter(at: 0, waitingAtMost: 999_999_999) else {
                Issue.record("It would have to wait for a second.")
                return
            }
        }
        #expect(queue.takeAtOnce(at: 1_000_000_000))
    }

    @Test("aren't let in where those before them wait for too long, although the rate recovers meanwhile")
    func recovering() throws {
        let queue = QuotaQueue(TokenBucket(rate: 10, burst: 10, isAdaptive: true))
        for _ in 0..<10 { #expect(queue.takeAtOnce(at: 0)) }
        for _ in 0..<6 { queue.learn(.init(), retryAfter: nil, isThrottled: true, begunAt: 0, at: 0) }
        guard case .waits(_, let first) = queue.enter(at: 0, waitingAtMost: .max),
            case .refused(let tooLong) = queue.enter(at: 1_000_000_000, waitingAtMost: 1_750_000_000),
            case .waits(_, let second) = queue.enter(at: 1_000_000_000, waitingAtMost: .max)
        else {
            Issue.record("Who comes a second later is sent after the first, whose token comes later than that one could wait.")
            return
        }
        #expect(tooLong == first - 1_000_000_000 && second == tooLong)
        #expect(queue.waiting == 2)
    }

    @Test("a token that its taker doesn't use is the next one's")
    func grantedAndGone() async throws {
        let queue = queue
        #expect(queue.takeAtOnce(at: 0))
        let (a, b) = (try #require(place(in: queue)), try #require(place(in: queue)))
        async let second: Void = wait(b, in: queue)
        async let first: Void = wait(a, in: queue)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        try await first
        queue.giveBack(at: 1_000_000_000)
        try await second
        // All that was taken is what went: one a second from now on.
        #expect(!queue.takeAtOnce(at: 1_000_000_000))
        #expect(queue.takeAtOnce(at: 2_000_000_000))
    }

    @Test("wait as long as the server wants to be left alone; who may not wait so long is let go at once")
    func silence() async throws {
        let queue = queue
        #expect(queue.takeAtOnce(at: 0))
        let a = try #require(place(in: queue))
        let b = try #require(place(in: queue, waitingAtMost: 10_000_000_000))
        let c = try #require(place(in: queue))
        async let first: Void = wait(a, in: queue)
        async let second = refusal(of: b, in: queue)
        async let third: Void = wait(c, in: queue)
        await clock.waitForSleepers(1)
        queue.learn(.init(), retryAfter: 30_000_000_000, isThrottled: true, begunAt: 0, at: 0)
        #expect(try await second == 31_000_000_000)
        #expect(queue.waiting == 2)
        await eventually { clock.nextDeadline?.offset == .seconds(30) }
        clock.advance(by: .seconds(30))
        try await first
        // One a second, then as ever.
        await eventually { clock.nextDeadline?.offset == .seconds(31) }
        #expect(queue.waiting == 1)
        clock.advance(by: .seconds(1))
        try await third
        #expect(queue.waiting == 0)
    }

    @Test("stand before those who come later, also when the server takes requests sooner than it said")
    func sooner() async throws {
        let queue = queue
        let said = RateLimitFields(["RateLimit": "\"a\";r=0;t=30"], nil, now: 0).general
        queue.learn(said, retryAfter: nil, isThrottled: false, begunAt: 0, at: 0)
        let a = try #require(place(in: queue))
        queue.learn(.init(), retryAfter: 5_000_000_000, isThrottled: true, begunAt: 0, at: 0)
        guard case .waits(let b, 6_000_000_000) = queue.enter(at: 0, waitingAtMost: .max) else {
            Issue.record("It would be sent before the one that came first.")
            return
        }
        async let first: Void = wait(a, in: queue)
        async let second: Void = wait(b, in: queue)
        await eventually { clock.nextDeadline?.offset == .seconds(5) }
        clock.advance(by: .seconds(5))
        try await first
        #expect(queue.waiting == 1)
        await eventually { clock.nextDeadline?.offset == .seconds(6) }
        clock.advance(by: .seconds(1))
        try await second
    }

    @Test("cost those who come later nothing when they go later than they might")
    func late() async throws {
        let queue = queue
        #expect(queue.takeAtOnce(at: 0))
        let places = try (0..<3).map { _ in try #require(place(in: queue)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for place in places { group.addTask { try await wait(place, in: queue) } }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(3))
            try await group.waitForAll()
        }
        guard case .waits(_, 1_000_000_000) = queue.enter(at: 3_000_000_000, waitingAtMost: .max) else {
            Issue.record("The next token comes a second later.")
            return
        }
    }

    @Test("go when they would where a response says that there is enough for all")
    func enough() async throws {
        let queue = queue
        #expect(queue.takeAtOnce(at: 0))
        let places = try (0..<2).map { _ in try #require(place(in: queue, waitingAtMost: 2_000_000_000)) }
        let said = RateLimitFields(["RateLimit": "\"a\";r=3;t=30"], nil, now: 0).general
        queue.learn(said, retryAfter: nil, isThrottled: false, begunAt: 0, at: 0)
        #expect(queue.waiting == places.count)
        guard case .waits(_, 3_000_000_000) = queue.enter(at: 0, waitingAtMost: .max),
            case .waits(_, 30_000_000_000) = queue.enter(at: 0, waitingAtMost: .max)
        else {
            Issue.record("One more is sent in its turn, and the next when there is more.")
            return
        }
    }

    @Test("go as far as what the server has left reaches, and then when there is more")
    func left() async throws {
        let queue = queue
        #expect(queue.takeAtOnce(at: 0))
        let (a, b) = (try #require(place(in: queue)), try #require(place(in: queue)))
        let said = RateLimitFields(["RateLimit": "\"a\";r=1;t=30"], nil, now: 0).general
        queue.learn(said, retryAfter: nil, isThrottled: false, begunAt: 0, at: 0)
        async let first: Void = wait(a, in: queue)
        async let second: Void = wait(b, in: queue)
        await eventually { clock.nextDeadline?.offset == .seconds(1) }
        clock.advance(by: .seconds(1))
        try await first
        await eventually { clock.nextDeadline?.offset == .seconds(30) }
        #expect(queue.waiting == 1)
        clock.advance(by: .seconds(29))
        try await second
    }

    @Test("get one token a second, whoever leaves meanwhile, and none is lost", arguments: 0..<20)
    func rounds(seed: UInt64) async throws {
        let queue = queue
        let random = SimulatedRandom(seed: seed)
        let sent = Locked<[Duration]>([])
        #expect(queue.takeAtOnce(at: 0))
        var calls: [Task<Void, any Error>] = []
        for _ in 0..<20 {
            let place = try #require(self.place(in: queue))
            calls.append(
                Task {
                    try await wait(place, in: queue)
                    sent.withLock { $0.append(clock.now.offset) }
                })
        }
        while queue.waiting > 0 {
            await eventually { clock.sleepers > 0 || queue.waiting == 0 }
            // Some leave at the moment at which the first one's turn comes.
            for _ in 0..<random.next() % 3 where !calls.isEmpty { calls[Int(random.next() % UInt64(calls.count))].cancel() }
            if let next = clock.nextDeadline { clock.advance(to: next) }
            for _ in 0..<random.next() % 4 { await Task.yield() }
        }
        for call in calls { _ = await call.result }
        let times = sent.withLock { $0 }
        for (number, time) in times.enumerated() { #expect(time >= .seconds(number + 1)) }
        // All who left have given theirs back: there is one now, and it is the only one.
        let now = clock.now.offset.wholeNanoseconds
        let isFull = queue.isIdle(at: now + 1_000_000_000)
        #expect(isFull && queue.takeAtOnce(at: now + 1_000_000_000))
    }
}
