import Midstream
import MidstreamTesting
import Synchronization
import Testing

/// Has somebody wait for what somebody else does.
private struct Gate: Sendable {
    private let gate = AsyncStream<Void>.makeStream()

    func open() { gate.continuation.finish() }

    func wait() async { for await _ in gate.stream {} }
}

/// Keeps a response, which would be closed when nobody has it, and notes whether its body is closed before.
private final class Kept: Sendable {
    private let response = Mutex<HTTPResponse?>(nil)
    private let closings = Mutex(0)

    var isClosed: Bool { closings.withLock { $0 } > 0 }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        let body = HTTPBody.incoming(next: { [1] }, close: { self.closings.withLock { $0 += 1 } })
        let answer = HTTPResponse(status: .ok, body: body, request: request)
        response.withLock { $0 = answer }
        return answer
    }

    func release() { response.withLock { $0 = nil } }
}

/// Notes, in front of a limit, that a hedge has ended.
private struct Watch: HTTPInterceptor {
    let stage = InterceptorStage.exchange
    let rank = InterceptorRank.breaker
    let ended: Gate

    func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
        defer { if next.isHedge { ended.open() } }
        return try await next(request)
    }
}

@Suite("A hedge that knows the public API alone", .timeLimit(.minutes(10)))
struct OwnHedgeTests {
    private let clock = TestClock()
    private let stub = StubTransport(status: .ok, body: .text("second"))

    /// - Parameters:
    ///   - first: What becomes of the first exchange.
    ///   - second: What the second one waits for before it is answered.
    private func client(
        first: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse,
        second: @escaping @Sendable () async throws -> Void = {}
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.clock = clock
        configuration.timeout = nil
        configuration.maxRetries = 0
        return HTTPClient(configuration: configuration, transport: stub) {
            OwnHedge(after: .seconds(1))
            ClosureHTTPInterceptor(stage: .exchange) { request, next in
                guard next.isHedge else { return try await first(request) }
                try await second()
                return try await next(request)
            }
        }
    }

    /// Has the first exchange take long.
    private func passDelay() async {
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
    }

    @Test("the second answers when the first takes long, and the first is cancelled")
    func secondWins() async throws {
        // Cancelling ends the wait.
        let never = Gate()
        let client = client { request in
            await never.wait()
            try Task.checkCancellation()
            return HTTPResponse(status: .ok, request: request)
        }
        async let call = client.send(HTTPRequest("https://h/"))
        await passDelay()
        let response = try await call
        #expect(response.body.bytes == Array("second".utf8))
        #expect(response.trace.events(named: "own.hedge").count == 1)
    }

    @Test("an answer in time, or a failure, has no second", arguments: [true, false])
    func inTime(isAnswer: Bool) async throws {
        let client = client { request in
            guard isAnswer else { throw HTTPError(.connection) }
            return HTTPResponse(status: .ok, body: .text("first"), request: request)
        }
        let response = try? await client.send(HTTPRequest("https://h/"))
        #expect(response?.body.bytes == (isAnswer ? Array("first".utf8) : nil))
        #expect(stub.requests.isEmpty && clock.sleepers == 0)
    }

    @Test("the response of the one that loses is closed")
    func loser() async throws {
        let kept = Kept()
        defer { kept.release() }
        let never = Gate()
        let client = client { request in
            // Answers all the same when it is cancelled.
            await never.wait()
            return kept.answer(request)
        }
        async let call = client.stream(HTTPRequest("https://h/"))
        await passDelay()
        #expect(try await call.body.collect() == Array("second".utf8))
        #expect(kept.isClosed)
    }

    @Test("a response that comes after the first has failed is the answer")
    func firstFails() async throws {
        let (begun, failed) = (Gate(), Gate())
        let client = client { _ in
            await begun.wait()
            failed.open()
            throw HTTPError(.connection)
        } second: {
            begun.open()
            await failed.wait()
        }
        async let call = client.send(HTTPRequest("https://h/"))
        await passDelay()
        #expect(try await call.body.bytes == Array("second".utf8))
    }

    @Test("when both fail, the failure of the first is that of the call")
    func bothFail() async throws {
        let begun = Gate()
        let client = client { _ in
            await begun.wait()
            throw HTTPError(.connectionLost)
        } second: {
            begun.open()
            throw HTTPError(.overloaded)
        }
        let call = Task { try await client.send(HTTPRequest("https://h/")) }
        await passDelay()
        let error = await #expect(throws: HTTPError.self) { try await call.value }
        #expect(error?.code == .connectionLost)
    }

    @Test("a limit that is full refuses the second, and the first goes on", arguments: [true, false])
    func fullLimit(isOwn: Bool) async throws {
        let (arrived, refused, answer) = (Gate(), Gate(), Gate())
        let slow = StubTransport { request in
            arrived.open()
            await answer.wait()
            return HTTPResponse(status: .ok, request: request)
        }
        var configuration = HTTPClient.Configuration()
        configuration.clock = clock
        configuration.timeout = nil
        let client = HTTPClient(configuration: configuration, transport: slow) {
            OwnHedge(after: .seconds(1))
            Watch(ended: refused)
            if isOwn { OwnLimit(1) } else { ConcurrencyLimit(.fixed(1), queue: 1) }
        }
        async let call = client.send(HTTPRequest("https://h/"))
        await arrived.wait()
        await passDelay()
        await refused.wait()
        answer.open()
        #expect(try await call.status == .ok)
        #expect(slow.requests.count == 1)
    }
}
