import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTasks
import MidstreamTesting
import TestSupport
import Testing

@Suite("Explanations send nothing", .leavesNothing, .timeLimit(.minutes(10)))
struct RehearsalTests {
    private let login = StubTransport(status: .ok, body: .text("token"))
    private let request = HTTPRequest("https://api.test/x")

    /// Fetches a token for each request, as code in the simplest form might do.
    private func fetching(_ client: HTTPClient) -> ClosureRequestInterceptor {
        ClosureRequestInterceptor("Token") { request in
            request.headers["X-Seen"] = "1"
            let token = try await client.send(HTTPRequest(.post, "token")).body.collect()
            request.headers[.authorization] = String(decoding: token, as: UTF8.self)
        }
    }

    private var loginClient: HTTPClient { testClient(baseURL: "https://login.test", transport: login) }

    private func explain(_ interceptor: any HTTPInterceptor) async throws -> Explanation.Step {
        let transport = StubTransport.ok
        let explanation = try await testClient(transport: transport) { interceptor }.explain(request)
        #expect(transport.requests.isEmpty)
        return try #require(explanation.steps.first { $0.scope == .client })
    }

    @Test("what an interceptor would send to find out is told instead of being sent")
    func refused() async throws {
        let step = try await explain(fetching(loginClient))
        #expect(step.plan.text == "would send POST https://login.test/token; what it would do then isn't known")
        #expect(step.changes.isEmpty)
        #expect(login.requests.isEmpty)
    }

    @Test("in every form, and by streams and tasks, too")
    func everyForm() async throws {
        struct Hooks: LifecycleInterceptor {
            let client: HTTPClient
            func modifyRequest(_ request: HTTPRequest) async throws -> HTTPRequest {
                _ = try await client.stream(HTTPRequest("token"))
                return request
            }
        }
        let client = loginClient
        let forms: [any HTTPInterceptor] = [
            Hooks(client: client),
            ClosureRequestInterceptor { _ in _ = try await client.get("token").result() },
            ClosureRequestInterceptor { _ in _ = try await Task { try await client.send(HTTPRequest("token")) }.value },
            ChainedRequestInterceptor.chain(inOrder: [
                ClosureRequestInterceptor { _ in _ = try await client.send(HTTPRequest("token")) }
            ]),
        ]
        for form in forms {
            #expect(try await explain(form).plan.text?.hasPrefix("would send GET https://login.test/token;") == true)
        }
        #expect(login.requests.isEmpty)
    }

    @Test("an interceptor that does without the answer is explained to its end")
    func handled() async throws {
        let client = loginClient
        let step = try await explain(
            ClosureRequestInterceptor { request in
                do {
                    _ = try await client.send(HTTPRequest("token"))
                } catch let error as HTTPError {
                    #expect(error.code == .explaining && error.phase == .notSent)
                    request.headers["X-Known"] = "none"
                }
            })
        #expect(step.plan.text == "would send GET https://login.test/token")
        #expect(step.changes == ["+ X-Known: none"])
    }

    @Test("an error without anything to send is the explanation's own")
    func ownError() async {
        await #expect(throws: Failure.self) { try await explain(ClosureRequestInterceptor { _ in throw Failure() }) }
        await #expect(throws: CancellationError.self) {
            try await explain(ClosureRequestInterceptor { _ in throw CancellationError() })
        }
    }

    @Test("a call that waits for the same work isn't failed by an explanation")
    func sharedWork() async throws {
        let flights = SingleFlight<String, String>()
        let client = loginClient
        let isAsked = AsyncStream.makeStream(of: Void.self)
        let isJoined = AsyncStream.makeStream(of: Void.self)
        let explained = Task {
            try await explain(
                ClosureRequestInterceptor { _ in
                    _ = try await flights.run("token") {
                        isAsked.continuation.yield()
                        for await _ in isJoined.stream { break }
                        return String(decoding: try await client.send(HTTPRequest("token")).data, as: UTF8.self)
                    }
                })
        }
        for await _ in isAsked.stream { break }
        // Begins while the explanation's work is under way, and has to be work of its own.
        let token = try await flights.run("token") {
            String(decoding: try await client.send(HTTPRequest("token")).data, as: UTF8.self)
        }
        isJoined.continuation.yield()
        #expect(token == "token")
        #expect(try await explained.value.plan.text?.hasPrefix("would send") == true)
        #expect(login.requests.count == 1)
    }

    @Test("after an explanation, and beside one, calls are sent")
    func onlyWhileExplaining() async throws {
        let transport = StubTransport.ok
        let client = testClient(transport: transport) { fetching(loginClient) }
        _ = try await client.explain(request)
        _ = try await client.send(request)
        #expect(transport.requests.map { $0.headers[.authorization] } == ["token"])
        #expect(login.requests.count == 1)
    }

    @Test("a closure's plan is run in its place")
    func closurePlans() async throws {
        let ran = Steps()
        let down = ClosureRequestInterceptor("Down") { _ in
            ran.note("down")
        } plan: { request in
            request.headers["X-Plan"] = "1"
            return .unknown("would fetch a token")
        }
        let full = ClosureHTTPInterceptor("Full") { request, next in
            ran.note("full")
            return try await next(request)
        } plan: { _ in
            .answers("by the mirror")
        }
        let joined = ChainedHTTPInterceptor.chain(inOrder: [ClosureRequestInterceptor("Down") { _ in }, full])
        var request = request
        #expect(try await joined.plan(&request) == .answers("Full: by the mirror"))
        let planned = try await explain(down)
        #expect(planned.plan == .unknown("would fetch a token") && planned.changes == ["+ X-Plan: 1"])
        #expect(try await explain(full).plan == .answers("by the mirror"))
        #expect(ran.all.isEmpty)
        let unplanned = ClosureHTTPInterceptor { request, next in try await next(request) }
        #expect(try await explain(unplanned).plan == .missing)
        let plain = ClosureRequestInterceptor { $0.headers["X-Plain"] = "1" }
        let step = try await explain(plain)
        #expect(step.changes == ["+ X-Plain: 1"] && step.plan == .known())
    }
}
