import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

/// Notes what goes wrong further in than hedging.
private struct Witness: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.breaker
    let steps: Steps

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        do {
            return try await next(request)
        } catch let error as HTTPError {
            steps.note(error.message)
            throw error
        }
    }
}

@Suite("Hedging", .leavesNothing, .timeLimit(.minutes(10)))
struct HedgingTests {
    private let bench = ArbiterBench()

    /// The first exchange of a request answers when the gate is opened, or is cancelled; others answer at once.
    private func stub(_ first: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) -> StubTransport {
        let count = Locked(0)
        return StubTransport { request in
            let number = count.increment()
            if number == 1 { return try await first(request) }
            return HTTPResponse(status: 200, headers: ["From": "second"], request: request)
        }
    }

    private func hanging(_ wasCancelled: Locked<Bool> = Locked(false)) -> StubTransport {
        stub { request in
            do { try await untilCancelled() } catch {
                wasCancelled.withLock { $0 = true }
                throw error
            }
            return HTTPResponse(status: 200, request: request)
        }
    }

    @Test("the second answers when the first takes long, and the first is cancelled")
    func secondWins() async throws {
        let wasCancelled = Locked(false)
        let hedging = Hedging()
        let client = bench.client(hanging(wasCancelled), interceptors: { hedging })
        let response = try await bench.waits(1, of: client).result.get()
        #expect(response.headers["From"] == "second")
        #expect(wasCancelled.withLock { $0 })
        #expect(response.trace.events(named: "hedge").map(\.attributes["sent"]) == [true])
        #expect(response.trace.events(named: "hedge.won").map(\.attributes["second"]) == [true])
        #expect("\(response.trace)".contains("no answer after 1.0 s: sends it a second time"))
        #expect(hedging.states["https://h"] == .init(exchanges: 1, hedges: 1, delay: .seconds(1)))
    }

    @Test("to those further in the second is a hedge and the first isn't, streamed or not", arguments: [true, false])
    func isHedge(isStreamed: Bool) async throws {
        let seen = Locked<[Bool]>([])
        let look = ClosureHTTPInterceptor(stage: .exchange) { request, next in
            // A part of a hedge is one, too.
            seen.withLock { $0.append(next.branch().isHedge) }
            return try await next(request)
        }
        let client = bench.client(
            hanging(),
            interceptors: {
                Hedging()
                look
            })
        let call = await bench.clock.waits(1) {
            try await isStreamed ? client.stream(HTTPRequest("/")) : client.send(HTTPRequest("/"))
        }
        _ = try call.result.get()
        #expect(seen.withLock { Set($0) } == [true, false])
    }

    @Test("an answer in time, or a failure, has no second", arguments: [200, 404, 500, nil])
    func inTime(status: Int?) async throws {
        let stub = StubTransport { request in
            guard let status else { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: HTTPStatus(status), request: request)
        }
        let client = bench.client(stub, validators: [], interceptors: { Hedging() })
        let result = await Result.of { try await client.send(HTTPRequest("/")) }
        #expect((try? result.get().status.code) == status)
        #expect(stub.requests.count == 1)
        #expect(bench.clock.sleepers == 0)
    }

    @Test(
        "what might do harm twice isn't hedged",
        arguments: [
            HTTPRequest(.post, "/"), HTTPRequest(.delete, "/"),
            HTTPRequest(.get, "/", body: .once(AsyncStream<[UInt8]> { $0.finish() })),
        ])
    func unsafe(request: HTTPRequest) async throws {
        let stub = StubTransport(status: 200)
        let client = bench.client(stub, interceptors: { Hedging(delay: .zero) })
        _ = try await client.send(request)
        #expect("\(try await client.explain(HTTPRequest(.post, "/")))".contains("none: a second POST might do harm"))
        let gate = Gate()
        let held = bench.client(
            StubTransport { request in
                await gate.wait()
                return HTTPResponse(status: 200, request: request)
            }, interceptors: { Hedging(delay: .zero) })
        async let call = held.send(HTTPRequest(.post, "/"))
        await gate.reached()
        gate.open()
        #expect(try await call.trace.events(named: "hedge").isEmpty)
    }

    @Test("a POST with an Idempotency-Key is hedged")
    func idempotent() async throws {
        let client = bench.client(hanging(), interceptors: { Hedging() })
        let request = HTTPRequest(.post, "/", headers: ["Idempotency-Key": "1"], body: .text("x"))
        #expect(try await bench.waits(1, of: client, request).result.get().headers["From"] == "second")
    }

    @Test("hedges are at most a share of the exchanges, and a reserve")
    func budget() async throws {
        let hedging = Hedging(delay: .zero, budget: 0.05, reserve: 2)
        let first = Locked(true)
        let client = bench.client(
            StubTransport { request in
                // Every first exchange hangs until a second has come, or a while has passed.
                let isFirst = first.withLock { first in
                    defer { first.toggle() }
                    return first
                }
                if isFirst, hedging.states["https://h"]?.hedges != nil { await Task.yield() }
                return HTTPResponse(status: 200, request: request)
            }, interceptors: { hedging })
        for _ in 0..<100 { _ = try await client.send(HTTPRequest("/")) }
        let state = try #require(hedging.states["https://h"])
        #expect(state.exchanges == 100 && state.hedges <= 7)
        var budget = HedgeBudget(share: 0.05, reserve: 2)
        for _ in 0..<2_000 {
            budget.countExchange()
            _ = budget.take()
            #expect(Double(budget.hedges) <= 0.05 * Double(budget.exchanges) + 2 + 1e-6)
        }
        #expect(budget.hedges == 102)
    }

    /// The status of a call whose first exchange is answered after the second was sent.
    private func status(first: HTTPStatus, second: HTTPStatus) async throws -> HTTPStatus {
        let gate = Gate()
        let count = Locked(0)
        let transport = StubTransport { request in
            let number = count.increment()
            if number == 1 { await gate.wait() }
            return HTTPResponse(status: number == 1 ? first : second, request: request)
        }
        let client = bench.client(transport, validators: [], interceptors: { Hedging() })
        async let call = client.send(HTTPRequest("/"))
        await gate.reached()
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(1))
        await eventually { transport.requests.count == 2 }
        gate.open()
        return try await call.status
    }

    @Test("a 5xx waits for the other; the other's good answer wins, and its body is closed")
    func serverError() async throws {
        // The second is good and ends the race; the first is waited for, and is nobody's.
        #expect(try await status(first: 503, second: 200) == 200)
    }

    @Test("what the second may be refused for because of the first doesn't win against that", arguments: [409, 429])
    func secondRefused(code: Int) async throws {
        #expect(try await status(first: 200, second: HTTPStatus(code)) == 200)
    }

    @Test("both fail: the first's failure is the call's")
    func bothFail() async throws {
        let gate = Gate()
        let count = Locked(0)
        let failing = StubTransport { _ in
            let number = count.increment()
            if number == 1 { await gate.wait() }
            throw HTTPError(number == 1 ? .connectionLost : .tls)
        }
        let client = bench.client(failing, interceptors: { Hedging() })
        let call = Task { try await client.send(HTTPRequest("/")) }
        await gate.reached()
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(1))
        await eventually { failing.requests.count == 2 }
        gate.open()
        #expect(await call.result.httpError?.code == .connectionLost)
    }

    @Test("no second while the limiter is full or has its last permit left; nothing is charged for it", arguments: [1, 2])
    func refused(limit count: Int) async throws {
        let hedging = Hedging()
        let limit = ConcurrencyLimit(.fixed(count))
        let gate = Gate()
        let held = StubTransport { request in
            await gate.wait()
            return HTTPResponse(status: 200, request: request)
        }
        let steps = Steps()
        let client = bench.client(
            held,
            interceptors: {
                limit
                hedging
                Witness(steps: steps)
            })
        async let call = client.send(HTTPRequest("/"))
        await gate.reached()
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(1))
        await eventually { !steps.all.isEmpty }
        gate.open()
        let response = try await call
        #expect(response.status == 200)
        #expect(
            steps.all == [
                "1 requests to https://h are under way, of \(count) that may be; this one is a hedge and leaves a tenth, "
                    + "one permit at least, to others. Send fewer at once, or later; a queue smooths short bursts."
            ])
        #expect(response.trace.events(named: "hedge.refused").map(\.attributes["reason"]) == ["overloaded"])
        #expect(response.trace.events(named: "hedge.won").isEmpty)
        #expect(held.requests.count == 1)
        #expect(hedging.states["https://h"]?.hedges == 0)
        #expect(limit.states["https://h"]?.inFlight == 0)
    }

    @Test("a second that is refused as hopeless isn't charged either")
    func hopeless() async throws {
        let hedging = Hedging()
        let steps = Steps()
        let refusal = ClosureHTTPInterceptor(stage: .exchange) { request, next in
            guard next.isHedge else { return try await next(request) }
            steps.note("refused")
            throw HTTPError(.timeout, phase: .notSent).refusedHere.forNow
        }
        let gate = Gate()
        let held = StubTransport { request in
            await gate.wait()
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(
            held,
            interceptors: {
                hedging
                refusal
            })
        async let call = client.send(HTTPRequest("/"))
        await gate.reached()
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(1))
        await eventually { steps.all == ["refused"] }
        gate.open()
        #expect(try await call.status == 200)
        #expect(hedging.states["https://h"]?.hedges == 0)
    }

    @Test("the loser counts as neither success nor failure, and its permit comes back")
    func loser() async throws {
        let limit = ConcurrencyLimit(.adaptive(start: 20))
        let breaker = CircuitBreaker(minimum: 1)
        let client = bench.client(
            hanging(),
            interceptors: {
                limit; breaker; Hedging()
            })
        _ = try await bench.waits(1, of: client).result.get()
        #expect(limit.states["https://h"] == .init(limit: 20, inFlight: 0, queued: 0))
        #expect(breaker.state(of: "https://h", on: bench.clock) == .closed)
    }

    @Test("cancelling the call cancels both")
    func cancelled() async throws {
        let limit = ConcurrencyLimit(.fixed(5))
        let stub = StubTransport { request in
            try await untilCancelled()
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(
            stub,
            interceptors: {
                limit; Hedging()
            })
        let call = Task { try await client.send(HTTPRequest("/")) }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(1))
        await eventually { stub.requests.count == 2 }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(limit.states["https://h"]?.inFlight == 0)
    }
}
