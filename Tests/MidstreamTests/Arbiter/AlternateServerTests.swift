import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Alternates, on a server", .leavesNothing)
struct AlternateServerTests {
    private let server: MockServer
    private let bench: ArbiterBench

    init() throws {
        server = try MockServer()
        bench = ArbiterBench(on: server)
    }

    /// Wants the token that its last login gave out.
    private func guardData(login status: HTTPStatus = 200) {
        let logins = Locked(0)
        server.respond { request in
            if request.path == "/api/login" {
                let number = logins.increment()
                return .init(status: status, body: .text("token \(number)"))
            }
            let isKnown = request.headers["X-Token"] == "token \(logins.withLock { $0 })"
            return .init(status: isKnown ? 200 : 401, body: "data")
        }
    }

    private let login = AlternateRequestValidator { _, _ in
        HTTPRequest(.post, "login")
    } then: { request, response in
        request.headers["X-Token"] = String(decoding: response.data, as: UTF8.self)
    }

    private func paths() -> [String] { server.requests.map(\.path) }

    @Test("E5 the alternate's answer and the original reach then, and the original is sent again after the delay")
    func after() async throws {
        guardData()
        let validator = CallbackValidator { response, _ in
            guard response.status == .unauthorized else { return .next }
            return .retry(
                .after(HTTPRequest("login"), delay: .milliseconds(300)) { request, response in
                    request.headers["X-Token"] = String(decoding: response.data, as: UTF8.self)
                })
        }
        let request = HTTPRequest(.post, "x", body: .text("body"))
        let (delays, result) = await bench.waits(1, of: bench.client(validators: [validator, DefaultValidator()]), request)
        #expect(try result.get().status == .ok && delays == [.milliseconds(300)])
        #expect(paths() == ["/api/x", "/api/login", "/api/x"] && server.requests.last?.text == "body")
    }

    @Test("E5 an alternate that fails skips then and ends the call with both failures")
    func failedAlternate() async throws {
        guardData(login: 500)
        let error = await httpError { try await bench.client(validators: [login, DefaultValidator()]).send(HTTPRequest("x")) }
        #expect(error?.code == .authentication && error?.response?.status == .unauthorized)
        #expect((error?.underlying as? HTTPError)?.response?.status == 500)
        #expect(paths() == ["/api/x", "/api/login"])
    }

    @Test("E6 afterTask changes the original; an error of the work goes to onError, and the original is sent again")
    func afterTask() async throws {
        server.respond { .init(status: $0.headers["X-Token"] == nil ? 401 : 200) }
        let fine = bench.client(validators: [AlternateTaskValidator { $0.headers["X-Token"] = "t" }, DefaultValidator()])
        #expect(try await fine.send(HTTPRequest("x")).status == .ok)
        let steps = Steps()
        let failing = bench.client(validators: [
            AlternateTaskValidator { _ in
                throw Failure()
            } onError: {
                steps.note("\($0)")
            }, DefaultValidator(),
        ])
        #expect(await httpError { try await failing.send(HTTPRequest("x")) }?.response?.status == .unauthorized)
        #expect(steps.all.count == 1 && server.requestCount == 4)
    }

    @Test("E7 an alternate doesn't recurse, and each call has its own limit")
    func recursion() async throws {
        server.respond { _ in .init(status: 401) }
        let client = bench.client(maxRetries: 2, validators: [login, DefaultValidator()])
        for _ in 1...2 {
            #expect(await httpError { try await client.send(HTTPRequest("x")) }?.code == .authentication)
        }
        #expect(paths() == ["/api/x", "/api/login", "/api/x", "/api/login"])
    }

    @Test("E7 many calls that fail at the same time share one alternate")
    func sharing() async throws {
        let gate = TestClock()
        let isLoggedIn = Locked(false)
        server.respond { request in
            if request.path == "/api/login" {
                isLoggedIn.withLock { $0 = true }
                return .init(body: "t")
            }
            if request.headers["X-Token"] == "t" { return .init(body: "data") }
            try await gate.sleep(for: .seconds(1))
            return .init(status: 401)
        }
        let client = bench.client(validators: [login, DefaultValidator()])
        // No more than URLSession opens connections to a host.
        let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 1...6 { group.addTask { try await client.send(HTTPRequest("x")).status } }
            await gate.waitForSleepers(6)
            gate.advance(by: .seconds(1))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: .ok, count: 6) && isLoggedIn.withLock { $0 })
        #expect(paths().count { $0 == "/api/login" } == 1 && server.requestCount == 13)
    }

    @Test("E9 401 and 403 set it off though no retries are allowed; no request is no objection")
    func statuses() async throws {
        for status in [401, 403, 404] as [HTTPStatus] {
            server.enqueue(.init(status: status), .init(body: "t"), .init(body: "data"))
            let client = bench.client(validators: [login])
            #expect(try await client.send(HTTPRequest("x")).status == (status == 404 ? 404 : 200))
        }
        #expect(server.requestCount == 7)
        server.respond { _ in .init(status: 401) }
        let none = bench.client(validators: [AlternateRequestValidator { _, _ in nil }])
        // What the 404 left in the queue.
        for expected in [200, 200, 401] as [HTTPStatus] {
            #expect(try await none.send(HTTPRequest("x")).status == expected)
        }
    }

    @Test("E9 no response at all sets it off where that is asked for")
    func withoutResponse() async throws {
        server.enqueue(.init(fault: .disconnect(.beforeHead)), .init(body: "t"), .init(body: "data"))
        let client = bench.client(validators: [
            AlternateRequestValidator(alsoWithoutResponse: true) { _, response in response == nil ? HTTPRequest("login") : nil }
        ])
        #expect(try await client.send(HTTPRequest("x")).status == .ok)
        #expect(paths() == ["/api/x", "/api/login", "/api/x"])
    }

    @Test("E11 cancelling during an alternate request ends the call at once, and the original isn't sent again")
    func cancelledAlternate() async throws {
        let gate = TestClock()
        server.respond { request in
            if request.path == "/api/login" { try await gate.sleep(for: .seconds(1)) }
            return .init(status: request.path == "/api/login" ? 200 : 401)
        }
        let client = bench.client(validators: [login, DefaultValidator()])
        let call = Task { try await client.send(HTTPRequest("x")) }
        await gate.waitForSleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        gate.advance(by: .seconds(1))
        #expect(paths() == ["/api/x", "/api/login"])
    }
}
