import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("Those who wait for a quota", .leavesNothing, .timeLimit(.minutes(10)))
struct QuotaQueueTests {
    private let bench = ArbiterBench()

    /// Requests that wait for a quota of one a second, and when they were sent.
    private final class Line: Sendable {
        private let bench: ArbiterBench
        private let client: HTTPClient
        private let sent: Locked<[String: Duration]>
        private let calls = Locked<[String: Task<Void, Never>]>([:])

        init(_ bench: ArbiterBench, maximumWait: Duration = .seconds(60)) async throws {
            let sent = Locked<[String: Duration]>([:])
            let clock = bench.clock
            let stub = StubTransport { request in
                sent.withLock { $0[request.headers["Name"] ?? ""] = clock.now.offset }
                return HTTPResponse(status: 200, request: request)
            }
            (self.bench, self.sent) = (bench, sent)
            client = bench.client(stub, interceptors: { RateLimit(perSecond: 1, burst: 1, maximumWait: maximumWait) })
            _ = try await client.send(HTTPRequest("/", headers: ["Name": "first"]))
        }

        /// Adds one behind the others, who waits when this returns.
        func add(_ name: String) async {
            let request = HTTPRequest("/", headers: ["Name": "\(name)"])
            let sleepers = bench.clock.sleepers
            let call = Task { [client] in _ = try? await client.send(request) }
            calls.withLock { $0[name] = call }
            await bench.clock.waitForSleepers(sleepers + 1)
        }

        /// Has one leave, who is gone when this returns.
        func leave(_ name: String) async {
            let call = calls.withLock { $0.removeValue(forKey: name) }
            call?.cancel()
            await call?.value
        }

        /// Moves the time until all are sent.
        func times() async -> [String: Duration] {
            for _ in calls.withLock({ $0 }) {
                let sent = sent.withLock { $0.count }
                guard let next = bench.clock.nextDeadline else { break }
                bench.clock.advance(to: next)
                await eventually { self.sent.withLock { $0.count } > sent }
            }
            for (_, call) in calls.withLock({ $0 }) { await call.value }
            return sent.withLock { $0 }
        }
    }

    private func place(in queue: QuotaQueue) -> QuotaQueue.Place? {
        guard case .waits(let place, _) = queue.enter(at: 0, waitingAtMost: .max, left: nil, on: bench.clock) else { return nil }
        return place
    }

    @Test("move up when somebody before them leaves")
    func middle() async throws {
        let line = try await Line(bench)
        for name in ["a", "b", "c", "d"] { await line.add(name) }
        await line.leave("b")
        #expect(await line.times() == ["first": .zero, "a": .seconds(1), "c": .seconds(2), "d": .seconds(3)])
        // The last of the times was given back.
        #expect(bench.clock.sleepers == 0)
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
        let queue = QuotaQueue(TokenBucket(rate: 1, burst: 1, isAdaptive: false))
        #expect(queue.takeAtOnce(at: 0))
        let clock = bench.clock
        let (a, b) = (try #require(place(in: queue)), try #require(place(in: queue)))
        var isRefused = false
        if case .refused(wait: 3_000_000_000) = queue.enter(at: 0, waitingAtMost: .max, left: .seconds(3), on: clock) {
            isRefused = true
        }
        #expect(isRefused)
        let first = Task {
            try await TimeLimit(.milliseconds(500), on: clock).run(error: { _ in .timedOut() }) { try await queue.wait(a) }
        }
        async let second: Void = queue.wait(b)
        await clock.waitForSleepers(3)
        clock.advance(by: .milliseconds(500))
        #expect(await first.result.httpError?.code == .timeout)
        clock.advance(by: .milliseconds(500))
        try await second
        #expect(clock.sleepers == 0)
    }

    @Test("a turn that comes as its taker leaves is the next one's")
    func grantedAndGone() async throws {
        let clock = bench.clock
        let queue = QuotaQueue(TokenBucket(rate: 1, burst: 1, isAdaptive: false))
        #expect(queue.takeAtOnce(at: 0))
        let (a, b) = (try #require(place(in: queue)), try #require(place(in: queue)))
        async let second: Void = queue.wait(b)
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        try await queue.wait(a)
        queue.giveBack()
        try await second
        #expect(clock.sleepers == 0)
        // All that was taken is what went: one a second from now on.
        #expect(!queue.takeAtOnce(at: 1_000_000_000))
        #expect(queue.takeAtOnce(at: 2_000_000_000))
    }
}
