import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("A fallback", .leavesNothing, .timeLimit(.minutes(10)))
struct FallbackTests {
    private let bench = ArbiterBench()

    private func client(_ transport: StubTransport, body: HTTPBody = .text("yesterday")) -> HTTPClient {
        bench.client(
            transport,
            interceptors: {
                Fallback { request, _ in HTTPResponse(status: 200, body: body, request: request) }
            })
    }

    @Test(
        "it answers when the server can't be had, and says so",
        arguments: [
            HTTPError.Code.timeout, .connection, .circuitOpen, .overloaded, .rateLimited,
        ])
    func answers(code: HTTPError.Code) async throws {
        let response = try await client(StubTransport { _ in throw HTTPError(code) }).send(HTTPRequest("/"))
        #expect(response.isFallback)
        #expect(String(decoding: response.data, as: UTF8.self) == "yesterday")
        #expect(response.trace.events(named: "fallback").first?.attributes["reason"] == .string(code.rawValue))
    }

    @Test("a status is one as well, from 500 on", arguments: [(503, true), (429, true), (404, false)])
    func status(status: Int, isMeant: Bool) async throws {
        let result = await Result.of { try await client(StubTransport(status: HTTPStatus(status))).send(HTTPRequest("/")) }
        #expect((try? result.get().isFallback) == (isMeant ? true : nil))
    }

    @Test("what works is passed on, and so is what isn't meant")
    func passes() async throws {
        let response = try await client(StubTransport(status: 200)).send(HTTPRequest("/"))
        #expect(!response.isFallback)
        await #expect(throws: Failure.self) { try await client(StubTransport { _ in throw Failure() }).send(HTTPRequest("/")) }
        await #expect(throws: CancellationError.self) {
            try await client(StubTransport { _ in throw CancellationError() }).send(HTTPRequest("/"))
        }
    }

    @Test("it doesn't answer an alternate request, whose answer would be taken for a login", arguments: [nil, 503])
    func alternate(status: Int?) async throws {
        let steps = Steps()
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/login") else { return HTTPResponse(status: .unauthorized, request: request) }
            guard let status else { throw HTTPError(.connection) }
            return HTTPResponse(status: HTTPStatus(status), request: request)
        }
        let login = AlternateRequestValidator { _, _ in
            HTTPRequest(.post, "/login")
        } then: { _, _ in
            steps.note("then")
        }
        let client = bench.client(
            stub, validators: [login, DefaultValidator()],
            interceptors: {
                Fallback { request, _ in HTTPResponse(status: 200, body: .text("[]"), request: request) }
            })
        let error = await httpError { try await client.send(HTTPRequest("/")) }
        #expect(error?.code == .authentication && error?.response?.status == .unauthorized)
        #expect((error?.underlying as? HTTPError)?.code == (status == nil ? .connection : .unacceptableStatus))
        #expect(steps.all.isEmpty)
    }

    @Test(
        "a deadline is answered, too, wherever the answer's body comes from",
        arguments: [HTTPBody.text("yesterday"), .stream { chunks("yester", "day") }])
    func deadline(body: HTTPBody) async throws {
        let client = client(
            StubTransport { request in
                try await untilCancelled()
                return HTTPResponse(status: 200, request: request)
            }, body: body)
        var request = HTTPRequest("/")
        request.deadline = .seconds(1)
        let response = try await bench.waits(1, of: client, request).result.get()
        #expect(response.isFallback && response.body.text == "yesterday")
    }

    @Test("a stream that answers a deadline can be read, though that covers bodies")
    func streamedAnswer() async throws {
        let client = bench.client(
            StubTransport { request in
                try await untilCancelled()
                return HTTPResponse(status: 200, request: request)
            }, maxRetries: 0, { ($0.deadline, $0.deadlineCoversBody) = (.seconds(1), true) },
            interceptors: {
                Fallback { request, _ in HTTPResponse(status: 200, body: .stream { chunks("yester", "day") }, request: request) }
            })
        let response = try await bench.clock.waits(1) { try await client.stream(HTTPRequest("/")) }.result.get()
        #expect(response.isFallback)
        #expect(try await response.body.collect() == Array("yesterday".utf8))
    }

    /// What interrupts a fallback at the deadline from outside of it.
    enum Interrupted: CaseIterable { case nothing, sameTask, branch, otherThread }

    /// - Parameter isCancelled: Opened when they are.
    private func interceptors(_ interrupted: Interrupted, opening isCancelled: Gate) -> [any HTTPInterceptor] {
        let outer = ClosureHTTPInterceptor("Outer", stage: .call) { request, next in
            try await withTaskCancellationHandler {
                try await next(request)
            } onCancel: {
                isCancelled.open()
            }
        }
        switch interrupted {
        case .nothing: return []
        case .sameTask: return [outer]
        case .branch: return [outer, ClosureHTTPInterceptor("Branch", stage: .call) { try await $1.branch()($0) }]
        case .otherThread: return [outer, OtherThread()]
        }
    }

    /// Fails at once, or waits for the deadline.
    private func client(
        failing code: HTTPError.Code? = nil, inside interrupted: Interrupted = .nothing, opening isCancelled: Gate = Gate(),
        answer: @escaping @Sendable () async throws -> HTTPResponse
    ) -> HTTPClient {
        bench.client(
            StubTransport { request in
                if let code { throw HTTPError(code) }
                try await untilCancelled()
                return HTTPResponse(status: 200, request: request)
            }, maxRetries: 0, { $0.deadline = .seconds(1) },
            interceptors: {
                interceptors(interrupted, opening: isCancelled)
                Fallback { _, _ in try await answer() }
            })
    }

    @Test("an answer to a deadline may wait, and be another client's", arguments: Interrupted.allCases)
    func waitingAnswer(inside interrupted: Interrupted) async throws {
        let other = bench.client(StubTransport(status: 200, body: .text("yesterday")))
        let isCancelled = Gate()
        let client = client(inside: interrupted, opening: isCancelled) {
            if interrupted != .nothing { await isCancelled.wait() }
            try Task.checkCancellation()
            return try await other.send(HTTPRequest("/kept"))
        }
        let response = try await bench.waits(1, of: client).result.get()
        #expect(response.isFallback && response.body.text == "yesterday")
    }

    @Test("who leaves ends an answer to a deadline", arguments: Interrupted.allCases)
    func abandonedAnswer(inside interrupted: Interrupted) async throws {
        let begun = Gate()
        let client = client(inside: interrupted) {
            begun.open()
            try await untilCancelled()
            throw Failure()
        }
        let call = Task { try await client.send(HTTPRequest("/")) }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(1))
        await begun.wait()
        call.cancel()
        let result = await call.result
        if interrupted != .nothing {
            // What was interrupted ends with that error, whoever leaves then.
            #expect(result.httpError?.code == .deadlineExceeded)
        } else {
            #expect(throws: CancellationError.self) { try result.get() }
        }
    }

    #if compiler(>=6.3) && os(Linux)
        @Test("an answer to a deadline is made where its call is", arguments: Interrupted.allCases)
        func placeOfAnswer(inside interrupted: Interrupted) async {
            let executor = QueueExecutor()
            let isThere = Locked(false)
            let client = client(inside: interrupted) {
                isThere.withLock { $0 = executor.isCurrent }
                throw Failure()
            }
            let call = Task(executorPreference: executor) { try await client.send(HTTPRequest("/")) }
            await bench.clock.waitForSleepers(1)
            bench.clock.advance(by: .seconds(1))
            _ = await call.result
            #expect(isThere.withLock { $0 })
        }
    #endif

    @Test("an answer to a call within another one ends at that one's deadline")
    func answerWithinAnotherCall() async throws {
        let isOver = Gate()
        let stub = StubTransport { _ in
            await isOver.wait()
            throw HTTPError(.connection)
        }
        let inner = bench.client(
            stub, maxRetries: 0,
            interceptors: {
                Fallback { _, _ in
                    try await untilCancelled()
                    throw Failure()
                }
            })
        let outer = bench.client(
            stub, maxRetries: 0, { $0.deadline = .seconds(1) },
            interceptors: {
                ClosureHTTPInterceptor("Outer", stage: .call) { _, _ in
                    try await withTaskCancellationHandler {
                        try await inner.send(HTTPRequest("/"))
                    } onCancel: {
                        isOver.open()
                    }
                }
            })
        #expect(await bench.waits(1, of: outer).result.httpError?.code == .deadlineExceeded)
    }

    @Test("an answer that was begun in time ends at the deadline")
    func answerInTime() async throws {
        let client = client(failing: .connection) {
            try await untilCancelled()
            throw Failure()
        }
        #expect(await bench.waits(1, of: client).result.httpError?.code == .deadlineExceeded)
    }
}
