import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Retries, on a server", .leavesNothing)
struct RetryServerTests {
    private let server: MockServer
    private let bench: ArbiterBench

    init() throws {
        server = try MockServer()
        bench = ArbiterBench(on: server)
    }

    private func always(_ strategy: RetryStrategy) -> CallbackValidator {
        CallbackValidator { response, _ in response.status.code >= 400 ? .retry(strategy) : .next }
    }

    @Test("E3 a server that goes on failing gets 1 + maxRetries requests, the call retriesExhausted", arguments: [0, 1, 4])
    func limit(maxRetries: Int) async throws {
        server.respond { _ in .init(status: 500, body: "down") }
        let client = bench.client(maxRetries: maxRetries, validators: [always(.immediate)])
        let request = HTTPRequest("x")
        for call in 1...2 {
            let error = await httpError { try await client.send(request) }
            #expect(error?.code == (maxRetries == 0 ? .unacceptableStatus : .retriesExhausted))
            #expect(error?.response?.status == 500 && error?.response?.body.bytes == Array("down".utf8))
            #expect(server.requestCount == call * (1 + maxRetries))
        }
    }

    @Test("E4 the delays of every strategy")
    func delays() async throws {
        let strategies: [(RetryStrategy, [Double])] = [
            (.delayed(.seconds(3)), [3, 3, 3, 3, 3]), (.exponential(), [0.25, 0.5, 1, 2, 4]),
            (.exponential(jitter: .off), [0.5, 1, 2, 4, 8]),
            (.exponential(cap: .seconds(3), jitter: .full), [0.25, 0.5, 1, 1.5, 1.5]),
            (.exponential(base: .seconds(1), cap: .seconds(6), jitter: .decorrelated), [2, 3.5, 5.75, 6, 6]),
            (.fibonacci(), [1, 1, 2, 3, 5]), (.custom { .seconds($0.attempt) }, [1, 2, 3, 4, 5]),
        ]
        for (strategy, expected) in strategies {
            server.enqueue(Array(repeating: .init(status: 500), count: 5))
            server.enqueue(.init(body: "fine"))
            let client = bench.client(maxRetries: 5, validators: [always(strategy)]) { $0.random = { 0.5 } }
            let (delays, result) = await bench.waits(5, of: client)
            #expect(delays == expected.map { .seconds($0) })
            #expect(try result.get().status == .ok)
        }
    }

    @Test(
        "E4 Retry-After: seconds, three forms of a date, capped, malformed; on 429 and 503 only",
        arguments: [
            (503, "7", 7), (429, "7.0", 7), (503, "3600", 60), (503, ".", 2), (503, "Sun, 06 Nov 1994 08:49:47 GMT", 10),
            (503, "Sunday, 06-Nov-94 08:49:47 GMT", 10), (503, "Sun Nov  6 08:49:47 1994", 10), (503, "soon", 2), (503, "1", 2),
            (500, "7", 2),
        ])
    func retryAfter(status: Int, value: String, seconds: Int) async throws {
        server.enqueue(
            .init(
                status: HTTPStatus(status), headers: ["Retry-After": value, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]),
            .init(body: "fine"))
        let (delays, result) = await bench.waits(1, of: bench.client(maxRetries: 1, validators: [always(.delayed(.seconds(2)))]))
        #expect(delays == [.seconds(seconds)])
        #expect(try result.get().status == .ok)
    }

    @Test("E10 a request that was never sent may be sent again, whatever its method")
    func neverSent() async throws {
        // Refused connections can be told from lost ones.
        let refused = try MockServer.refusedURL("/x")
        let steps = Steps()
        let client = bench.client(maxRetries: 1, interceptors: { ClosureRequestInterceptor { steps.note("\($0.attempt)") } })
        let result = await bench.waits(1, of: client, HTTPRequest(.post, refused, body: .text("x"))).result
        #expect(result.httpError?.code == .retriesExhausted && steps.all == ["1", "2"])
    }

    @Test(
        "E10 what the server may have acted on is sent again if the method or the user allows it",
        arguments: [
            (HTTPMethod.post, "", 1), (.patch, "", 1), (.put, "", 2), (.delete, "", 2), (.post, "key", 2), (.post, "flag", 2),
        ])
    func maybeProcessed(method: HTTPMethod, permission: String, sends: Int) async throws {
        server.enqueue(.init(fault: .disconnect(.beforeHead)), .init(body: "fine"))
        var request = HTTPRequest(method, "x", body: .text("x"))
        if permission == "key" { request.headers["Idempotency-Key"] = "k" }
        request.allowsUnsafeRetry = permission == "flag"
        let (_, result) = await bench.waits(sends - 1, of: bench.client(maxRetries: 1), request)
        #expect(server.requestCount == sends)
        #expect(sends == 2 ? try result.get().status == .ok : result.httpError?.code == .connectionLost)
    }

    @Test("E10 an answered POST is sent again when a validator asks for it, not when the default does")
    func answeredPost() async throws {
        server.enqueue(.init(status: 503), .init(status: 503), .init(body: "fine"))
        let request = HTTPRequest(.post, "x", body: .text("x"))
        #expect(await httpError { try await bench.client(maxRetries: 1).send(request) }?.code == .unacceptableStatus)
        #expect(try await bench.client(maxRetries: 1, validators: [always(.immediate)]).send(request).status == .ok)
        #expect(server.requestCount == 3)
    }

    @Test("E10 a body that was read once isn't sent again")
    func onceBody() async throws {
        server.respond { _ in .init(status: 503) }
        let chunks = AsyncStream<[UInt8]> {
            $0.yield(Array("x".utf8))
            $0.finish()
        }
        let client = bench.client(maxRetries: 3, validators: [always(.immediate)])
        let error = await httpError { try await client.send(HTTPRequest(.put, "x", body: .once(chunks))) }
        #expect(error?.code == .bodyNotReplayable && error?.response?.status == 503 && server.requestCount == 1)
    }

    @Test("E10 a POST that was answered with a redirect isn't repeated because the target is down")
    func redirectedPost() async throws {
        let refused = try MockServer.refusedURL("/x")
        server.respond { _ in .init(status: 303, headers: ["Location": refused]) }
        let error = await httpError { try await bench.client(maxRetries: 3).send(HTTPRequest(.post, "x", body: .text("x"))) }
        #expect(error?.code == .connection && server.requestCount == 1)
    }

    @Test("E11 cancelling during a backoff ends the call at once, and nothing more is sent")
    func cancelledBackoff() async throws {
        server.respond { _ in .init(status: 503) }
        let client = bench.client(maxRetries: 3)
        let call = Task { try await client.send(HTTPRequest("x")) }
        await bench.clock.waitForSleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        bench.clock.advance(by: .seconds(100))
        #expect(server.requestCount == 1)
    }

    @Test("E12 the response that is given up for a retry has its connection closed")
    func givenUp() async throws {
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let endless = AsyncStream<[UInt8]> { continuation in
            continuation.yield(Array("x".utf8))
            continuation.onTermination = { _ in close.finish() }
        }
        server.enqueue(.init(status: 503, body: .once(endless)), .init(body: "fine"))
        let client = bench.client(maxRetries: 1)
        let call = Task { try await client.stream(HTTPRequest("x")) }
        await bench.clock.waitForSleepers(1)
        // The server notices during the wait already.
        for await _ in closed {}
        bench.clock.advance(by: .seconds(1))
        #expect(try await call.value.body.collect() == Array("fine".utf8))
    }

    @Test("E12 a streamed response that is released unread has its connection closed", arguments: [false, true])
    func released(carriedByError: Bool) async throws {
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let endless = AsyncStream<[UInt8]> { continuation in
            continuation.yield(Array("x".utf8))
            continuation.onTermination = { _ in close.finish() }
        }
        server.enqueue(.init(status: carriedByError ? 500 : 200, body: .once(endless)))
        let client = bench.client()
        do {
            async let call = client.stream(HTTPRequest("x"))
            if carriedByError {
                // It is read for the error as long as that may take.
                await bench.clock.waitForSleepers(1)
                bench.clock.advance(by: .seconds(10))
            }
            let response = try await call
            #expect(response.status == .ok)
        } catch let error as HTTPError {
            #expect(error.response?.status == 500)
        }
        for await _ in closed {}
    }
}
