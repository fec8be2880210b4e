import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("E. Alternate requests", .leavesNothing)
struct AlternateRequestTests {
    private let bench = ArbiterBench()
    private let steps = Steps()

    /// Asks for the alternate after a 401, and for 0.3 s of patience.
    private func silentLogin(
        _ then: @escaping @Sendable (inout HTTPRequest, HTTPResponse) async throws -> Void = { request, response in
            request.headers["X-Token"] = response.body.text
        }
    ) -> CallbackValidator {
        CallbackValidator { response, _ in
            guard response.status == .unauthorized else { return .next }
            return .retry(.after(HTTPRequest(.post, "/login"), delay: .milliseconds(300), then: then))
        }
    }

    /// Wants the token that its last login gave out; each login gives out another.
    private func guardedServer(login: StubTransport.Reply? = nil) -> StubTransport {
        let logins = Locked(0)
        return StubTransport { request in
            if request.urlText.hasSuffix("/login") {
                if let login { return try await StubTransport(sequence: [login]).send(request) }
                let number = logins.increment()
                return HTTPResponse(status: .ok, body: .text("token \(number)"), request: request)
            }
            let isKnown = request.headers["X-Token"] == "token \(logins.withLock { $0 })"
            return HTTPResponse(status: isKnown ? .ok : .unauthorized, request: request)
        }
    }

    private func logins(_ stub: StubTransport) -> Int { stub.requests.count { $0.urlText.hasSuffix("/login") } }

    @Test("E5 then gets the answer to the alternate and the original request, which is sent again after the delay")
    func order() async throws {
        let stub = guardedServer()
        let steps = steps
        let client = bench.client(
            stub,
            validators: [
                silentLogin { request, response in
                    steps.note("\(request.urlText) \(response.request.urlText) \(response.status.code)")
                    request.headers["X-Token"] = response.body.text
                }, DefaultValidator(),
            ])
        let (delays, result) = await bench.waits(1, of: client, HTTPRequest(.post, "/books", body: .text("x")))
        #expect(try result.get().status == .ok)
        #expect(delays == [.milliseconds(300)])
        #expect(steps.all == ["https://h/books https://h/login 200"])
        #expect(stub.requests.map(\.description) == ["POST https://h/books", "POST https://h/login", "POST https://h/books"])
        #expect(stub.requests.map { $0.headers["X-Token"] } == [nil, nil, "token 1"])
        #expect(stub.requests.map(\.attempt) == [1, 1, 2] && stub.requests.last?.body.text == "x")
        #expect(try result.get().arbiterNotes.contains { $0.contains("alternate POST /login: 200") })
    }

    @Test("E5 then may put another request in the original's place, which stays part of the call")
    func replacement() async throws {
        let stub = guardedServer()
        let client = bench.client(
            stub,
            validators: [
                silentLogin { request, response in
                    request = HTTPRequest("https://h/other", headers: ["X-Token": response.body.text])
                }, DefaultValidator(),
            ])
        let request = HTTPRequest("/")
        let response = try await bench.waits(1, of: client, request).result.get()
        #expect(response.status == .ok && !response.trace.spans.isEmpty)
        #expect(stub.requests.last?.id == request.id && stub.requests.last?.attempt == 2)
        #expect(stub.requests.last?.urlText == "https://h/other")
    }

    @Test(
        "E5 an alternate that fails skips then and ends the call with both failures",
        arguments: [(HTTPStatus.unauthorized, HTTPError.Code.authentication), (.forbidden, .authentication), (500, .validation)])
    func failedAlternate(status: HTTPStatus, code: HTTPError.Code) async {
        let steps = steps
        for login in [StubTransport.Reply.respond(418), .fail(HTTPError(.tls))] {
            let stub = StubTransport { request in
                if request.urlText.hasSuffix("/login") { return try await StubTransport(sequence: [login]).send(request) }
                return HTTPResponse(status: status, body: .text("no"), request: request)
            }
            let client = bench.client(
                stub, maxRetries: 3,
                validators: [
                    AlwaysRetry(.after(HTTPRequest("/login")) { _, _ in steps.note("then") })
                ])
            let error = await httpError { try await client.send(HTTPRequest("/")) }
            #expect(error?.code == code && error?.response?.status == status && error?.response?.body.text == "no")
            let underlying = error?.underlying as? HTTPError
            #expect(underlying?.code == .unacceptableStatus || underlying?.code == .tls)
            #expect(underlying?.code == .tls || underlying?.response?.status == 418)
            #expect(error?.trace?.arbiterNotes.contains { $0.contains("alternate GET /login failed") } == true)
            #expect(stub.requests.count == 2 && steps.all.isEmpty)
        }
    }

    @Test("E5 what then throws ends the call with that error")
    func throwingThen() async {
        let stub = guardedServer()
        let client = bench.client(stub, maxRetries: 3, validators: [silentLogin { _, _ in throw Failure("then") }])
        await #expect(throws: Failure("then")) { try await client.send(HTTPRequest("/")) }
        #expect(stub.requests.count == 2)
    }

    @Test("E7 an alternate can't recurse, whoever judges it")
    func recursion() async {
        let stub = StubTransport(status: .unauthorized)
        let login = AlternateRequestValidator { _, _ in HTTPRequest("/login") }
        let other = AlternateRequestValidator { _, _ in HTTPRequest("/other") }
        for validators: [any HTTPValidator] in [
            [login], [login, DefaultValidator()], [login, other, AlternateTaskValidator { _ in }],
        ] {
            let before = stub.requests.count
            let error = await httpError {
                try await bench.client(stub, maxRetries: 5, validators: validators).send(HTTPRequest("/"))
            }
            #expect(error?.code == .authentication)
            // The login is retried as often as any request might be, but asks nobody for help.
            #expect(Set(stub.requests.dropFirst(before).map(\.urlText)) == ["https://h/", "https://h/login"])
            #expect(stub.requests.count - before == 2)
        }
    }

    @Test("E7 an alternate with validators of its own is judged by those")
    func ownValidators() async throws {
        let stub = StubTransport { request in
            let isLogin = request.urlText.hasSuffix("/login")
            return HTTPResponse(status: isLogin ? 418 : request.attempt == 1 ? 401 : 200, request: request)
        }
        let client = bench.client(
            stub,
            validators: [
                AlternateRequestValidator { _, _ in
                    var login = HTTPRequest("/login")
                    login.validators = []
                    return login
                }, DefaultValidator(),
            ])
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
    }

    @Test(
        "E7 concurrent failures share one alternate, though each has a span of its own, and each call's then is called",
        arguments: [2, 1_000], [false, true])
    func sharing(calls: Int, haveSpans: Bool) async throws {
        let gate = TestClock()
        let server = guardedServer()
        let stub = StubTransport { request in
            if request.attempt == 1, !request.urlText.hasSuffix("/login") { try await gate.sleep(for: .seconds(1)) }
            return try await server.send(request)
        }
        let steps = steps
        let client = bench.client(
            stub,
            validators: [
                AlternateRequestValidator { _, _ in
                    HTTPRequest("/login")
                } then: { request, response in
                    steps.note(request.id.uuidString)
                    request.headers["X-Token"] = response.body.text
                }, DefaultValidator(),
            ]
        ) { _ in
        } interceptors: {
            ClosureRequestInterceptor(stage: .exchange) { request in
                guard haveSpans else { return }
                request.headers["traceparent"] = "00-\(UUID())"
                request.headers["tracestate"] = "a=\(UUID())"
            }
        }
        let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<calls { group.addTask { try await client.send(HTTPRequest("/")).status } }
            await gate.waitForSleepers(calls)
            gate.advance(by: .seconds(1))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: .ok, count: calls))
        #expect(logins(stub) == 1 && stub.requests.count == 2 * calls + 1)
        #expect(Set(steps.all).count == calls && steps.all.count == calls)
    }

    @Test("E7 a failure that comes late shares the answer that has come meanwhile; a later call asks anew")
    func lateFailure() async throws {
        let gate = TestClock()
        let server = guardedServer()
        let stub = StubTransport { request in
            if let delay = request.headers["Delay"].flatMap({ Int($0) }), request.attempt == 1 {
                try await gate.sleep(for: .seconds(delay))
            }
            return try await server.send(request)
        }
        let client = bench.client(
            stub,
            validators: [
                AlternateRequestValidator { _, _ in
                    HTTPRequest("/login")
                } then: { request, response in
                    request.headers["X-Token"] = response.body.text
                }, DefaultValidator(),
            ])
        let early = Task { try await client.send(HTTPRequest("/", headers: ["Delay": "1"])) }
        let late = Task { try await client.send(HTTPRequest("/", headers: ["Delay": "2"])) }
        await gate.waitForSleepers(2)
        gate.advance(by: .seconds(1))
        #expect(try await early.value.status == .ok)
        gate.advance(by: .seconds(1))
        let response = try await late.value
        #expect(response.status == .ok && logins(stub) == 1)
        #expect(response.arbiterNotes.contains { $0.contains("shared with another call") })
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
        #expect(logins(stub) == 2)
    }

    private enum User: RequestContextKey { static let defaultValue = "nobody" }

    @Test("E7 alternates that the pipeline makes different aren't shared: nobody gets another user's answer")
    func differentUsers() async throws {
        let gate = TestClock()
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/login") {
                return HTTPResponse(
                    status: .ok, body: .text("\(request.headers[.authorization] ?? "")'s token"), request: request)
            }
            guard let token = request.headers["X-Token"] else {
                try await gate.sleep(for: .seconds(1))
                return HTTPResponse(status: .unauthorized, request: request)
            }
            return HTTPResponse(status: .ok, body: .text(token), request: request)
        }
        let client = bench.client(
            stub,
            validators: [
                AlternateRequestValidator { failed, _ in
                    var login = HTTPRequest("/login")
                    login.context[User.self] = failed.context[User.self]
                    return login
                } then: { request, response in
                    request.headers["X-Token"] = response.body.text
                }, DefaultValidator(),
            ]
        ) { _ in
        } interceptors: {
            ClosureRequestInterceptor(stage: .exchange) { $0.headers[.authorization] = $0.context[User.self] }
        }
        let answers = try await withThrowingTaskGroup(of: (String, String).self) { group in
            for user in ["Bob", "Eve"] {
                group.addTask {
                    var request = HTTPRequest("/data")
                    request.context[User.self] = user
                    return (user, try await client.send(request).body.text)
                }
            }
            await gate.waitForSleepers(2)
            gate.advance(by: .seconds(1))
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(answers == ["Bob": "Bob's token", "Eve": "Eve's token"] && logins(stub) == 2)
    }

    @Test("E11 when the last call that waits for an alternate is cancelled, the alternate is cancelled too")
    func abandoned() async throws {
        let (arrivals, hasArrived) = AsyncStream.makeStream(of: Void.self)
        let wasCancelled = AsyncStream.makeStream(of: Void.self)
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/login") else { return HTTPResponse(status: .unauthorized, request: request) }
            hasArrived.yield()
            do {
                try await untilCancelled()
            } catch {
                wasCancelled.continuation.yield()
                throw error
            }
            return HTTPResponse(status: .ok, request: request)
        }
        let client = bench.client(
            stub, validators: [AlternateRequestValidator { _, _ in HTTPRequest("/login") }, DefaultValidator()])
        let call = Task { try await client.send(HTTPRequest("/")) }
        for await _ in arrivals { break }
        call.cancel()
        for await _ in wasCancelled.stream { break }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(logins(stub) == 1)
    }

    private static func request(_ url: RequestURL, of name: String?, byAddress: Bool) -> HTTPRequest {
        var request = HTTPRequest(url)
        if byAddress { request.address = name } else { request.headers["User"] = name }
        return request
    }

    @Test("E7 alternates that differ aren't shared, be it in a field or in the server's address", arguments: [false, true])
    func different(byAddress: Bool) async throws {
        let gate = TestClock()
        let name: @Sendable (HTTPRequest) -> String? = { byAddress ? $0.address : $0.headers["User"] }
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/login") {
                return HTTPResponse(status: .ok, body: .text(name(request) ?? ""), request: request)
            }
            if request.attempt == 1 { try await gate.sleep(for: .seconds(1)) }
            let isKnown = name(request) == request.headers["X-Token"]
            return HTTPResponse(status: isKnown ? .ok : .unauthorized, request: request)
        }
        let client = bench.client(
            stub,
            validators: [
                AlternateRequestValidator { failed, _ in
                    Self.request("/login", of: name(failed), byAddress: byAddress)
                } then: { request, response in
                    request.headers["X-Token"] = response.body.text
                }, DefaultValidator(),
            ])
        async let first = client.send(Self.request("/", of: "10.0.0.1", byAddress: byAddress))
        async let second = client.send(Self.request("/", of: "10.0.0.2", byAddress: byAddress))
        await gate.waitForSleepers(2)
        gate.advance(by: .seconds(1))
        #expect(try await [first.status, second.status] == [.ok, .ok])
        #expect(logins(stub) == 2)
    }

    @Test("E7 the number of alternates is limited for each call, not for the validator", arguments: [(0, 1), (1, 1), (3, 3)])
    func limitPerCall(maxRetries: Int, alternates: Int) async {
        let stub = StubTransport { HTTPResponse(status: $0.urlText.hasSuffix("/login") ? 200 : 401, request: $0) }
        let client = bench.client(
            stub, maxRetries: maxRetries,
            validators: [AlternateRequestValidator { _, _ in HTTPRequest("/login") }, DefaultValidator()])
        for call in 1...3 {
            let error = await httpError { try await client.send(HTTPRequest("/")) }
            #expect(error?.code == (maxRetries == 0 ? .unacceptableStatus : .retriesExhausted))
            #expect(logins(stub) == call * alternates && stub.requests.count == call * (2 * alternates + 1))
        }
    }

    @Test("E9 statuses 401 and 403 set it off, with no retries allowed", arguments: [200, 400, 401, 402, 403, 404, 407, 500])
    func statuses(code: Int) async throws {
        let stub = StubTransport { request in
            HTTPResponse(
                status: request.urlText.hasSuffix("/login") || request.attempt == 2 ? 200 : HTTPStatus(code), request: request)
        }
        let client = bench.client(stub, validators: [AlternateRequestValidator { _, _ in HTTPRequest("/login") }])
        _ = try await client.send(HTTPRequest("/"))
        #expect(stub.requests.count == (code == 401 || code == 403 ? 3 : 1))
    }

    @Test("E9 it takes other statuses")
    func ownStatuses() async throws {
        let stub = StubTransport {
            HTTPResponse(status: $0.urlText.hasSuffix("/login") || $0.attempt == 2 ? 200 : 419, request: $0)
        }
        let client = bench.client(
            stub, validators: [AlternateRequestValidator(statuses: [419]) { _, _ in HTTPRequest("/login") }, DefaultValidator()])
        #expect(try await client.send(HTTPRequest("/")).status == .ok)
    }

    @Test("E9 no request is no objection")
    func noRequest() async throws {
        let stub = StubTransport(status: .unauthorized)
        #expect(
            try await bench.client(stub, validators: [AlternateRequestValidator { _, _ in nil }]).send(HTTPRequest("/")).status
                == .unauthorized)
        #expect(stub.requests.count == 1)
    }

    @Test("E9 getting no response at all sets it off where that is asked for", arguments: [false, true])
    func withoutResponse(isAskedFor: Bool) async throws {
        let stub = StubTransport { request in
            guard request.urlText.hasSuffix("/login") || request.attempt == 2 else { throw HTTPError(.tls) }
            return HTTPResponse(status: .ok, request: request)
        }
        let steps = steps
        let client = bench.client(
            stub,
            validators: [
                AlternateRequestValidator(alsoWithoutResponse: isAskedFor) { _, response in
                    steps.note(response == nil ? "no response" : "response")
                    return HTTPRequest("/login")
                }
            ])
        let result = await bench.waits(0, of: client).result
        #expect(isAskedFor ? try result.get().status == .ok : result.httpError?.code == .tls)
        #expect(steps.all == (isAskedFor ? ["no response"] : []) && stub.requests.count == (isAskedFor ? 3 : 1))
    }

    @Test("a client whose calls shared an alternate can go away")
    func noCycle() async throws {
        weak var client: HTTPClient?
        do {
            let made = bench.client(guardedServer(), validators: [silentLogin()])
            client = made
            _ = await bench.waits(1, of: made)
        }
        // The tasks that have answered may still be on their way out.
        await eventually(within: .seconds(120)) { client == nil }
        #expect(client == nil)
    }
}
