import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Alternates that are themselves sent again", .leavesNothing, .timeLimit(.minutes(10)))
struct AlternateRetryTests {
    @Test("a retry gets another answer than the one that was refused, and shares it", arguments: [1, 2, 100], [false, true])
    func refusedAnswer(calls: Int, isRedirected: Bool) async throws {
        let gate = TestClock()
        let answers = Locked(0)
        let login = isRedirected ? "/token" : "/login"
        let stub = StubTransport { request in
            if request.urlText.hasSuffix(login) {
                let number = answers.increment()
                return HTTPResponse(status: .ok, body: .text(number == 1 ? "busy" : "token"), request: request)
            }
            if request.urlText.hasSuffix("/login") {
                return HTTPResponse(status: .seeOther, headers: [.location: login], request: request)
            }
            if request.attempt == 1 { try await gate.sleep(for: .seconds(1)) }
            return HTTPResponse(status: request.headers["X-Token"] == "token" ? .ok : .unauthorized, request: request)
        }
        let client = ArbiterBench().client(
            stub, maxRetries: 1,
            validators: [
                AlternateRequestValidator { _, _ in
                    HTTPRequest(.post, "/login")
                } then: { request, response in
                    request.headers["X-Token"] = response.body.text
                }, DefaultValidator(),
                CallbackValidator { response, _ in response.body.text == "busy" ? .retry(.immediate) : .next },
            ])
        let responses = try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<calls { group.addTask { try await client.send(HTTPRequest("/")) } }
            await gate.waitForSleepers(calls)
            gate.advance(by: .seconds(1))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.count == calls && responses.allSatisfy { $0.status == .ok })
        #expect(answers.withLock { $0 } == 2)
        let sharing = responses.count { $0.arbiterNotes.contains { $0.contains("shared with another call") } }
        #expect(calls > 1 || sharing == 0)
    }

    @Test("one that wasn't sent is sent again for all who had shared it")
    func unsent() async throws {
        let (isRefused, comers, logins) = (Gate(), Locked(0), Locked(0))
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/login") else {
                return HTTPResponse(status: request.attempt == 1 ? .unauthorized : .ok, request: request)
            }
            let isFirst = logins.withLock { logins in
                logins += 1
                return logins == 1
            }
            guard isFirst else { return HTTPResponse(status: .ok, request: request) }
            await isRefused.wait()
            throw HTTPError(.connection, request: request, phase: .notSent)
        }
        let client = ArbiterBench().client(
            stub, maxRetries: 1,
            validators: [
                AlternateRequestValidator { _, _ in HTTPRequest(.post, "/login") },
                DefaultValidator(retriableErrors: [.connection: .immediate]),
            ]
        ) { _ in
        } interceptors: {
            ClosureRequestInterceptor(stage: .exchange) { request in
                if request.urlText.hasSuffix("/login") { comers.withLock { $0 += 1 } }
            }
        }
        let calls = (0..<2).map { _ in Task { try await client.send(HTTPRequest("/")).status } }
        await eventually { comers.withLock { $0 } == 2 }
        isRefused.open()
        for call in calls { #expect(try await call.value == .ok) }
        #expect(logins.withLock { $0 } == 2)
    }
}
