import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Pipeline.md")
struct PipelineExamples {
    private let page = MarkdownPage(path: "Documentation/Pipeline.md")

    /// Names the call. Once per call: the name is the same on every attempt.
    struct RequestName: RequestInterceptor {
        let stage = InterceptorStage.call

        func intercept(request: inout HTTPRequest) async throws {
            request.headers["X-Request-ID"] = request.id.uuidString
        }
    }

    /// Tells the server how often it was asked. Once per attempt.
    struct AttemptNumber: RequestInterceptor {
        func intercept(request: inout HTTPRequest) async throws {
            request.headers["X-Attempt"] = "\(request.attempt)"
        }
    }

    /// Sees what goes on the wire and what comes back. Once per exchange, redirects included.
    struct WireLog: HTTPInterceptor {
        let stage = InterceptorStage.exchange
        let write: @Sendable (String) -> Void

        func intercept(
            _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
        ) async throws -> HTTPResponse {
            let response = try await next(request)
            write("\(request.method) \(request.urlText): \(response.status)")
            return response
        }
    }

    private func client(_ transport: StubTransport, log: Recorder) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 2
        configuration.validators = [DefaultValidator(retriableStatus: [.serviceUnavailable: .immediate])]

        let client = HTTPClient(
            baseURL: "https://api.example.com/v2", configuration: configuration, transport: transport
        ) {
            WireLog { log.write($0) }  // listed first, and still the innermost
            AttemptNumber()
            RequestName()
        }
        return client
    }

    /// Busy at first; and the user has moved.
    private var transport: StubTransport {
        StubTransport(sequence: [
            .respond(.serviceUnavailable),
            .respond(.found, headers: [.location: "/v2/people/42"]),
            .respond(.ok, body: .text(#"{"name": "Ann"}"#)),
        ])
    }

    @Test("A pipeline prints its order")
    func pipeline() throws {
        let client = client(transport, log: Recorder())
        print(client.pipeline)
        try page.expectBlock(printing: "\(client.pipeline)")
    }

    @Test("A request can be explained without being sent")
    func explanation() async throws {
        let transport = transport
        let client = client(transport, log: Recorder())
        var request = HTTPRequest("users/42", headers: [.authorization: "Bearer secret"])
        request.addQuery("full", "1")

        let explanation = try await client.explain(request)
        print(explanation)
        try page.expectBlock(printing: "\(explanation)")
        #expect(transport.requests.isEmpty)
    }

    @Test("A trace tells what was done")
    func trace() async throws {
        let log = Recorder()
        let client = client(transport, log: log)
        let response = try await client.send(HTTPRequest("users/42"))
        print(response.trace)
        try page.expectBlock(printing: "\(response.trace)")
        #expect(
            log.events == [
                "GET https://api.example.com/v2/users/42: 503 Service Unavailable",
                "GET https://api.example.com/v2/users/42: 302 Found",
                "GET https://api.example.com/v2/people/42: 200 OK",
            ])
    }

    @Test("An error has its trace, too")
    func errorTrace() async throws {
        let client = client(StubTransport(status: .notFound), log: Recorder())
        var printed: [String] = []
        func print(_ value: Any) { printed.append("\(value)") }
        do {
            _ = try await client.send(HTTPRequest("users/43"))
        } catch let error as HTTPError {
            print(error)
            print(error.trace ?? "no trace")
        }
        try page.expectBlock(printing: printed.joined(separator: "\n"))
    }

    @Test("A trace can be encoded")
    func encodedTrace() async throws {
        let client = client(transport, log: Recorder())
        let response = try await client.send(HTTPRequest("users/42"))
        let json = try JSONEncoder().encode(response.trace)
        let spans = try JSONDecoder().decode([Trace.Span].self, from: json)
        #expect(spans.first?.name == "RequestName")
    }

    /// Answers by itself: interceptors further in don't see the request.
    struct Offline: HTTPInterceptor {
        let stage = InterceptorStage.call
        let isOffline: @Sendable () -> Bool

        func intercept(
            _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
        ) async throws -> HTTPResponse {
            guard isOffline() else { return try await next(request) }
            throw HTTPError(.connection, "The app is in offline mode.", request: request, phase: .notSent)
        }
    }

    @Test("Next never")
    func never() async throws {
        let transport = StubTransport(status: .ok)
        let client = HTTPClient(transport: transport) { Offline { true } }
        await #expect {
            try await client.send(HTTPRequest("https://api.example.com/"))
        } throws: {
            ($0 as? HTTPError)?.code == .connection
        }
        #expect(transport.requests.isEmpty)
    }

    /// Asks the mirror when the main server can't be reached.
    struct Mirror: HTTPInterceptor {
        let stage = InterceptorStage.exchange
        let host: String

        func intercept(
            _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
        ) async throws -> HTTPResponse {
            do {
                return try await next(request)
            } catch let error as HTTPError where error.phase == .notSent {
                var components = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
                components?.host = host
                guard let url = components?.url else { throw error }
                var second = request
                second.url = url
                // Cookies and credentials aren't for another origin.
                for (name, _) in request.headers where request.headers.isSensitive(name) { second.headers.remove(name) }
                request.note("asks the mirror, since: \(error.code)")
                return try await next(second)
            }
        }
    }

    @Test("Next twice")
    func twice() async throws {
        let transport = StubTransport(sequence: [.fail(HTTPError(.connection, phase: .notSent)), .respond(.ok)])
        let client = HTTPClient(transport: transport) { Mirror(host: "mirror.example.com") }
        let request = HTTPRequest("https://www.example.com/a?b=1", headers: [.authorization: "Bearer secret"])
        #expect(try await client.send(request).status == .ok)
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer secret", nil])
        #expect(
            transport.requests.map(\.urlText) == [
                "https://www.example.com/a?b=1", "https://mirror.example.com/a?b=1",
            ])
        try await assertInterceptorLaws { Mirror(host: "mirror.example.com") }
    }

    @Test("An interceptor can be put at another stage")
    func otherStage() async throws {
        let transport = StubTransport(sequence: [
            .respond(.found, headers: [.location: "/b"]), .respond(.ok),
        ])
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            AttemptNumber().at(.exchange)
        }
        _ = try await client.send(HTTPRequest("a"))
        #expect(transport.requests.map { $0.headers["X-Attempt"] } == ["1", "1"])
        #expect(client.pipeline.entries.map(\.name) == ["Arbiter", "Redirects", "AttemptNumber"])
    }

    @Test("Ranks come before scopes")
    func ranks() async throws {
        let (transport, log) = (StubTransport(status: .ok), Recorder())
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) { CacheInterceptor() }
        var request = HTTPRequest("users")
        request.interceptors = [WireLog { log.write($0) }]
        let exchange = try await client.explain(request).steps.filter { $0.stage == .exchange }
        print(exchange.map(\.name))
        try page.expectBlock(printing: "\(exchange.map(\.name))")
    }

    /// Asks for less when the network is slow, and says why.
    struct SmallerImages: RequestInterceptor {
        let isSlow: @Sendable () -> Bool

        func intercept(request: inout HTTPRequest) async throws {
            guard isSlow() else { return }
            request.headers["Save-Data"] = "on"
            request.note("the network is slow")
        }
    }

    /// Takes an answer for good only when its seal is there.
    struct SealValidator: HTTPValidator {
        func validate(
            _ response: HTTPResponse, for request: HTTPRequest
        ) async throws -> HTTPVerdict {
            guard response.headers["X-Seal"] == nil else { return .next }
            response.note("no seal")
            return .retry(.immediate)
        }
    }

    struct ChoosesMirror: RequestInterceptor {
        func intercept(request: inout HTTPRequest) async throws {
            request.record(CallEvent("mirror.chosen", "mirror 2", ["place": 2]))
        }
    }

    @Test("Programs read what interceptors did")
    func events() async throws {
        let client = HTTPClient(transport: StubTransport(status: .ok)) { ChoosesMirror().at(.call) }
        let trace = try await client.send(HTTPRequest("https://api.example.com/a")).trace
        #expect(trace.events(named: "mirror.chosen").map(\.attributes["place"]) == [2])
        #expect(trace.spans.first?.events.first?.attributes == ["place": 2])
    }

    @Test("Interceptors and validators say why they did something")
    func notes() async throws {
        let transport = StubTransport(sequence: [.respond(.ok), .respond(.ok, headers: ["X-Seal": "1"])])
        var configuration = HTTPClient.Configuration()
        configuration.validators = [SealValidator()]
        configuration.maxRetries = 1
        let client = HTTPClient(configuration: configuration, transport: transport) { SmallerImages { true } }
        let text = "\(try await client.send(HTTPRequest("https://api.example.com/a")).trace)"
        #expect(text.contains("· SealValidator: no seal"))
        #expect(text.components(separatedBy: "· the network is slow").count == 3)
    }

    @Test("A closure that talks to somebody comes with a plan")
    func plan() async throws {
        let session = StubTransport(status: .ok, body: .text("token"))
        let transport = StubTransport(status: .ok)
        let sessionClient = HTTPClient(baseURL: "https://login.example.com", transport: session)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            ClosureRequestInterceptor("Session") { request in
                let token = try await sessionClient.send(HTTPRequest("token")).data
                request.headers[.authorization] = "Bearer \(String(decoding: token, as: UTF8.self))"
            } plan: { _ in
                .unknown("would fetch a token")
            }
        }
        #expect(try await client.explain(HTTPRequest("a")).steps.contains { $0.plan == .unknown("would fetch a token") })
        #expect(session.requests.isEmpty)
        _ = try await client.send(HTTPRequest("a"))
        #expect(transport.requests.first?.headers[.authorization] == "Bearer token")
    }

    enum Tenant: RequestContextKey {
        static let defaultValue = "public"
    }

    struct TenantHeader: RequestInterceptor {
        func intercept(request: inout HTTPRequest) async throws {
            request.headers["X-Tenant"] = request.context[Tenant.self]
        }
    }

    @Test("Values travel with a request and don't go on the wire")
    func context() async throws {
        let transport = StubTransport(status: .ok)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) { TenantHeader() }
        var request = HTTPRequest("users")
        request.context[Tenant.self] = "acme"
        _ = try await client.send(request)
        #expect(transport.requests.first?.headers["X-Tenant"] == "acme")
    }
}
