import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

/// Answers when it is told to, and counts.
private final class Held: Sendable {
    let gate = Gate()
    let wasCancelled = Locked(0)
    private let status: HTTPStatus

    init(status: HTTPStatus = 200) { self.status = status }

    var stub: StubTransport {
        StubTransport { [self] request in
            await gate.wait()
            if Task.isCancelled { wasCancelled.withLock { $0 += 1 } }
            try Task.checkCancellation()
            return HTTPResponse(status: status, body: .text("answer to \(request.urlText)"), request: request)
        }
    }
}

/// Puts a user's name into one part of each request.
private struct Personal: RequestInterceptor {
    let part: String
    let user: @Sendable () -> String
    var stage: InterceptorStage { .exchange }

    func identity(of request: HTTPRequest) -> RequestIdentity { part == "identity" ? .user(user()) : .nobody }

    func intercept(request: inout HTTPRequest) async throws {
        switch part {
        case "query": request.addQuery("app_id_c", user())
        case "host": request.urlText = "https://\(user()).test/me"
        case "body": request.body = .text(user())
        case "field": request.headers["X-User"] = user()
        case "method": if user() == "bob" { request.method = .head }
        default: break
        }
    }
}

private enum Tenant: RequestContextKey {
    static let defaultValue = ""
}

@Suite("Coalescing", .leavesNothing, .timeLimit(.minutes(10)))
struct CoalescingTests {
    private let bench = ArbiterBench()
    private let held = Held()

    /// Sends both at once and tells how many requests that were.
    private func requests(
        _ first: HTTPRequest, _ second: HTTPRequest, _ coalescing: Coalescing = Coalescing(),
        _ others: @escaping () -> [any HTTPInterceptor] = { [] }
    ) async throws -> Int {
        let stub = held.stub
        let client = bench.client(
            stub,
            interceptors: {
                coalescing
                others()
            })
        let calls = [first, second].map { request in Task { try await client.send(request) } }
        await held.gate.reached()
        // Either both have arrived, or one waits for the other.
        await eventually { stub.requests.count == 2 || coalescing.waiting == 2 }
        held.gate.open()
        for call in calls { #expect(try await call.value.status == 200) }
        return stub.requests.count
    }

    @Test("equal requests make one call, and each caller has the answer, as its own")
    func shared() async throws {
        let stub = held.stub
        let coalescing = Coalescing()
        let client = bench.client(stub, interceptors: { coalescing })
        let calls = (0..<10).map { _ in
            let request = HTTPRequest("/users")
            return (request.id, Task { try await client.send(request) })
        }
        await eventually { coalescing.waiting == 10 }
        held.gate.open()
        var made = 0
        for (id, call) in calls {
            let response = try await call.value
            #expect(response.body.bytes == Array("answer to https://h/users".utf8))
            #expect(response.request.id == id)
            let event = try #require(response.trace.events(named: "coalesced").first)
            #expect(event.attributes["calls"] == 10)
            let isMade = event.attributes["made"] == true
            made += isMade ? 1 : 0
            let text = isMade ? "answers 10 equal calls at once" : "takes the answer of an equal call, which is that of 10"
            #expect("\(response.trace)".contains(text))
        }
        #expect(made == 1 && stub.requests.count == 1 && coalescing.waiting == 0)
        // Nothing is kept.
        #expect(try await client.send(HTTPRequest("/users")).trace.events(named: "coalesced").isEmpty)
        #expect(stub.requests.count == 2)
    }

    @Test(
        "requests that differ in what may change the answer aren't shared",
        arguments: [
            HTTPRequest(.head, "/"), HTTPRequest("/x"), HTTPRequest("/?q"),
            HTTPRequest("/", headers: ["Authorization": "Bearer b"]),
            HTTPRequest("/", headers: ["Cookie": "a=1"]), HTTPRequest("/", headers: ["Accept": "text/html"]),
            HTTPRequest("/", headers: ["X-Key": "1"]), HTTPRequest(.get, "/", body: .text("b")),
        ])
    func different(request: HTTPRequest) async throws {
        #expect(try await requests(HTTPRequest(.get, "/"), request) == 2)
    }

    @Test("it may stand at any stage", arguments: InterceptorStage.allCases)
    func stages(stage: InterceptorStage) async throws {
        let (coalescing, stub) = (Coalescing(), held.stub)
        let client = bench.client(stub, interceptors: { coalescing.at(stage) })
        let calls = (0..<2).map { _ in Task { try await client.send(HTTPRequest("/")) } }
        await eventually { coalescing.waiting == 2 }
        _ = try await client.explain(HTTPRequest("/"))
        held.gate.open()
        for call in calls { #expect(try await call.value.status == 200) }
        #expect(stub.requests.count == 1)
    }

    @Test("a request that can't be sent isn't shared with one that can")
    func refused() async throws {
        let client = bench.client(held.stub, interceptors: { Coalescing() })
        let other = Task { try await client.send(HTTPRequest("/")) }
        await held.gate.reached()
        let error = await httpError { try await client.send(HTTPRequest("/", headers: ["X-Name": "a\r\nb"])) }
        #expect(error?.code == .invalidRequest)
        held.gate.open()
        #expect(try await other.value.status == 200)
    }

    @Test("requests whose settings differ, or can't be compared, aren't shared", arguments: 1..<8)
    func settings(setting: Int) async throws {
        func set(_ request: inout HTTPRequest) {
            switch setting {
            case 1: request.timeout = .seconds(5)
            case 2: request.maxRetries = 5
            case 3: request.priority = .sheddable
            case 4: request.context[Tenant.self] = "b"
            case 5: request.validators = [DefaultValidator()]
            case 6: request.interceptors = [ClosureRequestInterceptor("x") { _ in }]
            default: request.isWatchedArriving = true
            }
        }
        let plain = HTTPRequest(.get, "/")
        var other = HTTPRequest(.get, "/")
        set(&other)
        #expect(try await requests(plain, other) == 2)
    }

    @Test("equal settings are shared where they can be compared", arguments: 0..<9)
    func equalSettings(setting: Int) async throws {
        var requests = [HTTPRequest(.get, "/"), HTTPRequest(.get, "/")]
        for place in requests.indices {
            switch setting {
            case 0: requests[place].deadline = .seconds(5)
            case 1: requests[place].timeout = .seconds(5)
            case 2: requests[place].maxRetries = 5
            case 3: requests[place].priority = .sheddable
            case 4: requests[place].context[Tenant.self] = "b"
            case 5: requests[place].validators = [DefaultValidator()]
            case 6: requests[place].interceptors = [ClosureRequestInterceptor("x") { _ in }]
            case 7: requests[place].redirects = .refuse
            default: requests[place].isWatchedArriving = true
            }
        }
        #expect(try await self.requests(requests[0], requests[1]) == (setting < 5 ? 1 : 2))
    }

    @Test("who signs in while another's request is under way gets an answer of his own", arguments: InterceptorStage.allCases)
    func users(stage: InterceptorStage) async throws {
        let user = Locked("ann")
        let stub = held.stub
        let coalescing = Coalescing()
        let client = bench.client(
            stub,
            interceptors: {
                coalescing
                ClosureRequestInterceptor("Session") { request in
                    request.headers[.authorization] = "Bearer \(user.withLock { $0 })"
                }.at(stage)
            })
        let first = Task { try await client.send(HTTPRequest("/me")) }
        await held.gate.reached()
        user.withLock { $0 = "bob" }
        let second = Task { try await client.send(HTTPRequest("/me")) }
        await held.gate.reached(by: 2)
        user.withLock { $0 = "ann" }
        let third = Task { try await client.send(HTTPRequest("/me")) }
        await eventually { coalescing.waiting == 3 }
        held.gate.open()
        for call in [first, second, third] { _ = try await call.value }
        #expect(stub.requests.compactMap { $0.headers[.authorization] } == ["Bearer ann", "Bearer bob"])
    }

    @Test("what can't tell beforehand whose a request will be keeps it from being shared, unless somebody says whose it is")
    func unknown() async throws {
        let opaque: @Sendable () -> [any HTTPInterceptor] = { [ClosureHTTPInterceptor("Opaque") { try await $1($0) }] }
        #expect(try await requests(HTTPRequest("/"), HTTPRequest("/"), Coalescing(), opaque) == 2)
        let client = bench.client(
            StubTransport(status: 200),
            interceptors: {
                Coalescing()
                opaque()
            })
        let response = try await client.send(HTTPRequest("/"))
        #expect("\(response.trace)".contains("not shared: Opaque can't tell beforehand whose it will be"))
        #expect("\(try await client.explain(HTTPRequest("/")))".contains("not shared: Opaque can't tell"))
    }

    @Test(
        "whether a plan is known decides, not its text",
        arguments: [
            (RequestPlan.unknown("adds the user's token"), 2), (.answers("a page"), 2), (.known("would write a line"), 1),
        ])
    func plans(plan: RequestPlan, count: Int) async throws {
        let session: @Sendable () -> [any HTTPInterceptor] = {
            [
                ClosureHTTPInterceptor("Session") {
                    try await $1($0)
                } plan: { _ in
                    plan
                }
            ]
        }
        #expect(try await requests(HTTPRequest("/"), HTTPRequest("/"), Coalescing(), session) == count)
    }

    @Test("the identity that is given counts", arguments: [("a", "a", 1), ("a", "b", 2), ("K", "\u{212A}", 2), (nil, nil, 2)])
    func identity(first: String?, second: String?, count: Int) async throws {
        let coalescing = Coalescing(ignoring: ["X-User"]) { $0.headers["X-User"] }
        var requests = [HTTPRequest("/"), HTTPRequest("/")]
        requests[0].headers["X-User"] = first
        requests[1].headers["X-User"] = second
        let opaque: @Sendable () -> [any HTTPInterceptor] = { [ClosureHTTPInterceptor("Opaque") { try await $1($0) }] }
        #expect(try await self.requests(requests[0], requests[1], coalescing, opaque) == count)
    }

    @Test("what only numbers requests may differ, and so may the parts that treat all alike")
    func numbering() async throws {
        let first = HTTPRequest("/", headers: ["X-Request-ID": "1", "traceparent": "a"])
        let second = HTTPRequest("/", headers: ["X-Request-ID": "2", "traceparent": "b"])
        let count = try await requests(first, second) {
            [Resilience.standard, Hedging(), RateLimit(perSecond: 50), DeadlineHeader.grpc()]
        }
        #expect(count == 1)
    }

    @Test("two clients share nothing, though they have the interceptor in common")
    func clients() async throws {
        let stub = held.stub
        let coalescing = Coalescing()
        let clients = (0..<2).map { _ in bench.client(stub, interceptors: { coalescing }) }
        let calls = clients.map { client in Task { try await client.send(HTTPRequest("/")) } }
        await held.gate.reached(by: 2)
        held.gate.open()
        for call in calls { _ = try await call.value }
        #expect(stub.requests.count == 2)
    }

    @Test("streams and bodies that can be read once are each its own", arguments: [true, false])
    func streams(isStreamed: Bool) async throws {
        let stub = held.stub
        let client = bench.client(stub, interceptors: { Coalescing() })
        let calls = (0..<2).map { _ in
            Task {
                if isStreamed { return try await client.stream(HTTPRequest("/")) }
                let body = HTTPBody.once(AsyncStream<[UInt8]> { $0.finish() })
                return try await client.send(HTTPRequest(.get, "/", body: body))
            }
        }
        await held.gate.reached(by: 2)
        held.gate.open()
        for call in calls { #expect(try await call.value.status == 200) }
        #expect(stub.requests.count == 2)
    }

    @Test("who has changed something sees it: an answer that was asked for before isn't shared", arguments: [200, 500])
    func changes(status: Int) async throws {
        let gate = Gate()
        let stub = StubTransport { request in
            if request.method == .post { return HTTPResponse(status: HTTPStatus(status), request: request) }
            await gate.wait()
            return HTTPResponse(status: 200, request: request)
        }
        let client = bench.client(stub, validators: [], interceptors: { Coalescing() })
        let before = Task { try await client.send(HTTPRequest("/list")) }
        await gate.reached()
        _ = try await client.send(HTTPRequest(.post, "/list"))
        let after = Task { try await client.send(HTTPRequest("/list")) }
        await gate.reached(by: 2)
        gate.open()
        _ = try await (before.value, after.value)
    }

    private enum User {
        @TaskLocal static var name = ""
    }

    @Test(
        "requests that differ on the wire aren't shared, whatever of them an interceptor makes",
        arguments: ["query", "host", "body", "field", "method", "identity"], [false, true])
    func differentOnTheWire(part: String, isChained: Bool) async throws {
        let stub = held.stub
        let coalescing = Coalescing()
        let client = bench.client(
            stub,
            interceptors: {
                coalescing
                let personal = Personal(part: part, user: { User.name })
                if isChained { ChainedRequestInterceptor.chain(inOrder: [personal]) } else { personal }
            })
        let calls = ["alice", "bob"].map { name in
            User.$name.withValue(name) { Task { try await client.send(HTTPRequest("/me")) } }
        }
        await held.gate.reached()
        // Both wait also when neither shares, a moment before the second is sent.
        await eventually(within: .seconds(120)) { stub.requests.count == 2 }
        #expect(stub.requests.count == 2)
        held.gate.open()
        for call in calls { _ = try await call.value }
    }

    @Test("an interceptor that doesn't tell whose a request is keeps it from being shared where its plan leaves something open")
    func untold() async throws {
        #expect(
            try await requests(HTTPRequest("/"), HTTPRequest("/")) {
                [
                    ClosureRequestInterceptor("Token") {
                        $0.headers[.authorization] = "t"
                    } plan: { _ in
                        .unknown("fetches a token")
                    }
                ]
            } == 2)
    }

    @Test("who leaves leaves the others alone, first or last; when all have left, the call is cancelled", arguments: 0..<3)
    func cancelling(leaver: Int) async throws {
        let stub = held.stub
        let coalescing = Coalescing()
        let client = bench.client(stub, interceptors: { coalescing })
        var calls: [Task<HTTPResponse, any Error>] = []
        for count in 1...3 {
            calls.append(Task { try await client.send(HTTPRequest("/")) })
            await eventually { coalescing.waiting == count }
        }
        calls[leaver].cancel()
        await #expect(throws: CancellationError.self) { try await calls[leaver].value }
        #expect(coalescing.waiting == 2 && held.wasCancelled.withLock { $0 } == 0)
        calls.remove(at: leaver)
        calls[0].cancel()
        _ = await calls[0].result
        if leaver == 2 {
            held.gate.open()
            #expect(try await calls[1].value.status == 200)
            return
        }
        calls[1].cancel()
        _ = await calls[1].result
        held.gate.open()
        await eventually { held.wasCancelled.withLock { $0 } == 1 }
        #expect(coalescing.waiting == 0 && stub.requests.count == 1)
    }

    @Test(
        "each has the time that it has itself, from its own beginning", arguments: ["request", "client", "interceptor"],
        [false, true])
    func deadlines(by: String, isNested: Bool) async throws {
        let stub = held.stub
        let coalescing = Coalescing()
        let client = bench.client(
            stub, { if by == "client" { $0.deadline = .seconds(10) } },
            interceptors: {
                if by == "interceptor" { ClosureRequestInterceptor("Time") { $0.deadline = .seconds(10) }.at(.call) }
                if isNested {
                    let chain = ChainedHTTPInterceptor.chain(inOrder: [coalescing, ClosureRequestInterceptor { _ in }])
                    ClosureHTTPInterceptor(stage: .call) { try await chain.intercept($0, next: $1) }
                } else {
                    coalescing
                }
            })
        func begin() -> Task<HTTPResponse, any Error> {
            Task {
                var request = HTTPRequest("/")
                if by == "request" { request.deadline = .seconds(10) }
                return try await client.send(request)
            }
        }
        let first = begin()
        await held.gate.reached()
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(6))
        let second = begin()
        await eventually { coalescing.waiting == 2 }
        await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .seconds(4))
        #expect(await first.result.httpError?.code == .deadlineExceeded)
        #expect(coalescing.waiting == 1)
        held.gate.open()
        let response = try await second.value
        #expect(response.status == 200 && stub.requests.count == 1)
        #expect(response.request.deadline == (by == "client" ? nil : .seconds(10)))
    }

    @Test("requests share an answer whose deadlines differ, and each keeps its own")
    func differentDeadlines() async throws {
        let stub = held.stub
        let coalescing = Coalescing()
        let client = bench.client(stub, interceptors: { coalescing })
        let deadlines: [Duration?] = [.some(.seconds(5)), .some(.seconds(60)), nil]
        let calls = deadlines.map { deadline in
            var request = HTTPRequest("/")
            request.deadline = deadline
            return (deadline, Task { [request] in try await client.send(request) })
        }
        await eventually { coalescing.waiting == 3 }
        await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .seconds(5))
        #expect(await calls[0].1.result.httpError?.code == .deadlineExceeded)
        #expect(coalescing.waiting == 2)
        held.gate.open()
        for (deadline, call) in calls.dropFirst() {
            let response = try await call.value
            #expect(response.status == 200 && response.request.deadline == deadline)
        }
        #expect(stub.requests.count == 1)
    }

    @Test("a failure is everybody's, each with its own trace, and the retries are made once")
    func failures() async throws {
        let gate = Gate()
        let stub = StubTransport { request in
            await gate.wait()
            return HTTPResponse(status: 503, body: .text("no"), request: request)
        }
        let coalescing = Coalescing()
        let client = bench.client(
            stub, maxRetries: 2, validators: [DefaultValidator(retriableStatus: [503: .immediate])], interceptors: { coalescing })
        let calls = (0..<3).map { _ in
            let request = HTTPRequest("/")
            return (request.id, Task { try await client.send(request) })
        }
        await eventually { coalescing.waiting == 3 }
        gate.open()
        for (id, call) in calls {
            let error = try #require(await call.result.httpError)
            #expect(error.code == .retriesExhausted && error.request?.id == id)
            #expect(error.response?.body.bytes == Array("no".utf8) && error.response?.request.id == id)
            #expect((error.underlying as? HTTPError)?.response?.request.id == id)
            #expect(error.trace?.events(named: "coalesced").count == 1)
        }
        #expect(stub.requests.count == 3)
    }

    @Test("a stream with which an interceptor answers is read once and everybody's")
    func streamedAnswer() async throws {
        let gate = Gate()
        let coalescing = Coalescing()
        let client = bench.client(
            StubTransport(status: 500),
            interceptors: {
                coalescing
                ClosureHTTPInterceptor("Local") { request, _ in
                    await gate.wait()
                    let chunks = AsyncStream<[UInt8]> {
                        $0.yield([1, 2])
                        $0.finish()
                    }
                    return HTTPResponse(status: 200, body: .once(chunks), request: request)
                } plan: { _ in
                    .known()
                }
            })
        let calls = (0..<3).map { _ in Task { try await client.send(HTTPRequest("/")) } }
        await eventually { coalescing.waiting == 3 }
        gate.open()
        for call in calls { #expect(try await call.value.body.bytes == [1, 2]) }
    }

    @Test("an explanation says whether the answer would be shared")
    func explains() async throws {
        let coalescing = Coalescing()
        let client = bench.client(held.stub, interceptors: { coalescing })
        func text(_ request: HTTPRequest) async throws -> String { "\(try await client.explain(request))" }
        #expect(try await text(HTTPRequest("/")).contains("shares its answer with equal requests"))
        #expect(try await text(HTTPRequest(.post, "/")).contains("not shared: a POST may change something"))
        let call = Task { try await client.send(HTTPRequest("/")) }
        await held.gate.reached()
        #expect(try await text(HTTPRequest("/")).contains("would share the answer of an equal request, as 1 do"))
        held.gate.open()
        _ = try await call.value
        #expect("\(client.pipeline)".contains("Coalescing\n  Arbiter"))
    }

    @Test("over sockets: one request, and every caller has all bytes")
    func sockets() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let coalescing = Coalescing()
        server.respond { _ in
            await eventually { coalescing.waiting == 20 }
            return .init(headers: ["Set-Cookie": "a=1"], body: .bytes(body))
        }
        let client = testClient(baseURL: server.url("/")) { coalescing }
        let calls = (0..<20).map { _ in Task { try await client.send(HTTPRequest("x")) } }
        for call in calls { #expect(try await call.value.body.bytes == body) }
        #expect(server.requestCount == 1)
    }
}
