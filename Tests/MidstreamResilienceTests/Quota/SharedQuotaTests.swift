import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

/// A counter that several clients share, as several processes would by a store.
private final class SharedCounter: Quota {
    struct Unreachable: Error {}

    /// The waits that it gives out, in order; nil: it can't be reached.
    private let answers: Locked<[QuotaDecision?]>
    let asked = Locked<[(key: String, most: Duration)]>([])
    let given = Locked(0)
    /// What giving back waits for.
    private let gate: Gate?

    init(_ answers: [QuotaDecision?], gate: Gate? = nil) {
        self.answers = Locked(answers)
        self.gate = gate
    }

    func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision {
        asked.withLock { $0.append((key, longest)) }
        guard let answer = answers.withLock({ $0.isEmpty ? .sends(after: .zero) : $0.removeFirst() }) else { throw Unreachable() }
        return answer
    }

    func giveBack(for key: String) async {
        given.withLock { $0 += 1 }
        await gate?.wait()
    }
}

@Suite("A quota of one's own", .leavesNothing, .timeLimit(.minutes(10)))
struct SharedQuotaTests {
    private let bench = ArbiterBench()

    private func client(_ quota: some Quota, _ headers: HTTPHeaders = [:]) -> HTTPClient {
        bench.client(
            StubTransport(status: 200, headers: headers), interceptors: { RateLimit(quota: quota, maximumWait: .seconds(5)) })
    }

    @Test("says when requests are sent, to all that share it")
    func shared() async throws {
        let quota = SharedCounter([.sends(after: .zero), .sends(after: .seconds(2)), .sends(after: .seconds(-1))])
        let (one, other) = (client(quota), client(quota))
        #expect(await bench.waits(0, of: one).delays.isEmpty)
        let (delays, result) = await bench.waits(1, of: other)
        #expect(delays == [.seconds(2)])
        #expect(try result.get().trace.events(named: "quota.wait").map(\.attributes["wait"]) == [.number(2)])
        #expect(await bench.waits(0, of: one).delays.isEmpty)
        #expect(quota.asked.withLock { $0.map(\.key) } == ["https://h", "https://h", "https://h"])
        #expect(quota.asked.withLock { $0.map(\.most) } == [.seconds(5), .seconds(5), .seconds(5)])
        #expect(quota.given.withLock { $0 } == 0)
        #expect(
            "\(try await one.explain(HTTPRequest("/")))".contains(
                "as SharedCounter and the server say; waits up to 5.0 s, and half of its time"))
    }

    @Test("refuses, and what can't be waited for is given back")
    func refused() async throws {
        let quota = SharedCounter([
            .refuses(wait: .seconds(9)), .sends(after: .seconds(9)), .sends(after: .seconds(3)), .sends(after: .seconds(3)),
        ])
        let client = client(quota)
        let error = try #require(await httpError { try await client.send(HTTPRequest("/")) })
        #expect(error.code == .rateLimited && error.phase == .notSent)
        #expect(
            error.message
                == "The quota of https://h is used up for 9.0 s, and requests wait at most 5.0 s, the limit's maximumWait. "
                + "Send fewer, or later, or let them wait longer.")
        #expect(quota.given.withLock { $0 } == 0)
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .rateLimited)
        await eventually { quota.given.withLock { $0 } == 1 }
        var request = HTTPRequest("/")
        request.deadline = .seconds(2)
        let hasty = request
        #expect(await httpError { try await client.send(hasty) }?.code == .rateLimited)
        await eventually { quota.given.withLock { $0 } == 2 }
        // Half of its time is for the answer.
        #expect(quota.asked.withLock { $0.last?.most } == .seconds(1))
        let call = Task { try await client.send(HTTPRequest("/")) }
        await bench.clock.waitForSleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await eventually { quota.given.withLock { $0 } == 3 }
    }

    @Test("gets back the place of a request that a limit further in refuses, not that of one whose server is down")
    func refusedFurtherIn() async throws {
        let gate = Gate()
        let isDown = Locked(true)
        let stub = StubTransport { request in
            guard !isDown.withLock({ $0 }) else { throw HTTPError(.connection, phase: .notSent) }
            await gate.wait()
            return HTTPResponse(status: 200, request: request)
        }
        let quota = SharedCounter([])
        let client = bench.client(
            stub, maxRetries: 0,
            interceptors: {
                RateLimit(quota: quota)
                ConcurrencyLimit(.fixed(1))
            })
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.cause == .connection)
        isDown.withLock { $0 = false }
        async let first = client.send(HTTPRequest("/"))
        await gate.reached()
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .overloaded)
        await eventually { quota.given.withLock { $0 } == 1 }
        gate.open()
        _ = try await first
        #expect(quota.asked.withLock { $0.count } == 3)
        #expect(quota.given.withLock { $0 } == 1)
    }

    @Test("doesn't get back the place of a request that is refused later than others have waited for")
    func refusedLate() async throws {
        let (quota, isLate, clock) = (SharedCounter([]), Locked(true), bench.clock)
        let client = bench.client(
            StubTransport.ok, maxRetries: 0,
            interceptors: {
                RateLimit(quota: quota)
                ClosureHTTPInterceptor(stage: .exchange) { request, _ in
                    if isLate.withLock({ $0 }) { clock.advance(by: .seconds(1)) }
                    throw HTTPError(.overloaded, request: request, phase: .notSent)
                }
            })
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .overloaded)
        isLate.withLock { $0 = false }
        #expect(await httpError { try await client.send(HTTPRequest("/")) }?.code == .overloaded)
        await eventually { quota.given.withLock { $0 } >= 1 }
        #expect(quota.given.withLock { $0 } == 1)
    }

    @Test("gets back every place, however many leave at once")
    func crowd() async throws {
        let gate = Gate()
        let quota = SharedCounter(Array(repeating: .sends(after: .seconds(3)), count: 40), gate: gate)
        let client = client(quota)
        let calls = (0..<40).map { _ in Task { try await client.send(HTTPRequest("/")) } }
        await bench.clock.waitForSleepers(40)
        for call in calls { call.cancel() }
        for call in calls { _ = await call.result }
        await eventually(within: .seconds(120)) { quota.given.withLock { $0 } == 40 }
        #expect(quota.given.withLock { $0 } == 40)
        gate.open()
    }

    @Test("is asked after those have waited that the server wants to wait, for what is left of the longest wait")
    func server() async throws {
        let quota = SharedCounter([.sends(after: .zero), .sends(after: .seconds(2))])
        let client = client(quota, ["RateLimit": "\"a\";r=0;t=3"])
        _ = try await client.send(HTTPRequest("/"))
        #expect(await bench.waits(2, of: client).delays == [.seconds(3), .seconds(2)])
        #expect(quota.asked.withLock { $0.map(\.most) } == [.seconds(5), .seconds(2)])
    }

    /// Takes three seconds.
    private struct SlowCounter: Quota {
        let clock: TestClock
        let counter = SharedCounter([.sends(after: .seconds(5))])

        func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision {
            clock.advance(by: .seconds(3))
            return try await counter.reserve(for: key, waitingAtMost: longest)
        }

        func giveBack(for key: String) async { await counter.giveBack(for: key) }
    }

    @Test("that takes its time leaves less of it to wait for")
    func slow() async throws {
        let quota = SlowCounter(clock: bench.clock)
        let client = client(quota)
        var request = HTTPRequest("/")
        request.timeout = .seconds(10)
        let limited = request
        #expect(await httpError { try await client.send(limited) }?.code == .rateLimited)
        #expect(quota.counter.asked.withLock { $0.map(\.most) } == [.seconds(5)])
        await eventually { quota.counter.given.withLock { $0 } == 1 }
    }

    /// Waits for as long as it may.
    private struct Silence: Quota {
        let given = Locked(0)

        func giveBack(for key: String) async { given.withLock { $0 += 1 } }

        func reserve(for key: String, waitingAtMost longest: Duration) async throws -> QuotaDecision {
            try? await untilCancelled()
            return .sends(after: .zero)
        }
    }

    @Test(
        "that doesn't answer ends the request when its time is over, unsent, and gets back its place", arguments: [true, false])
    func silent(byDeadline: Bool) async throws {
        let quota = Silence()
        let client = client(quota)
        var request = HTTPRequest("/")
        if byDeadline { request.deadline = .seconds(2) } else { request.timeout = .seconds(2) }
        let limited = request
        let call = Task { await httpError { try await client.send(limited) } }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(2))
        let error = await call.value
        #expect(error?.code == (byDeadline ? .deadlineExceeded : .timeout) && error?.phase == .notSent)
        await eventually { quota.given.withLock { $0 } == 1 }
    }

    @Test("that can't be reached ends the request as it says")
    func unreachable() async throws {
        let client = client(SharedCounter([nil]))
        await #expect(throws: SharedCounter.Unreachable.self) { try await client.send(HTTPRequest("/")) }
        _ = try await client.send(HTTPRequest("/"))
    }
}
