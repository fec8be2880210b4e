import Foundation
import Midstream
import MidstreamTelemetry
import MidstreamTesting
import Testing

@Suite("Testing.md", .timeLimit(.minutes(10)))
struct TestingExamples {
    struct User: Codable, Equatable { let name: String }

    @Test("A stub with one answer")
    func stub() async throws {
        let stub = StubTransport(status: .ok, body: try .json(User(name: "Ann")))
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)

        let user = try await client.send(HTTPRequest("users/42")).decode(User.self)
        #expect(user == User(name: "Ann"))
        #expect(stub.requests.map(\.urlText) == ["https://api.example.com/users/42"])
    }

    @Test("A stub with several answers")
    func sequence() async throws {
        let stub = StubTransport(sequence: [
            .fail(HTTPError(.connection, phase: .notSent)),
            .respond(.ok, headers: ["X-Version": "2"], body: .text("hello")),
        ])
        let client = HTTPClient(transport: stub)
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("https://api.example.com/")) }
        #expect(try await client.send(HTTPRequest("https://api.example.com/")).data == Data("hello".utf8))
    }

    @Test("A stub that decides")
    func closure() async throws {
        let stub = StubTransport { request in
            let isKnown = request.headers[.authorization] == "Bearer token"
            return HTTPResponse(status: isKnown ? .ok : .unauthorized, request: request)
        }
        let client = HTTPClient(transport: stub)
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("https://api.example.com/")) }
    }

    @Test("A server with a queue of answers")
    func server() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(
            .init(status: .created, body: try .json(User(name: "Ann"))),
            .init(status: .noContent))

        let client = HTTPClient(baseURL: server.url("/v1"))
        let created = try await client.send(HTTPRequest(.post, "users", body: .json(User(name: "Ann"))))
        #expect(created.status == .created)

        let sent = try await server.takeRequest()
        #expect(sent.method == .post)
        #expect(sent.path == "/v1/users")
        #expect(try sent.decode(User.self) == User(name: "Ann"))
    }

    @Test("A server with rules")
    func rules() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { request in
            switch (request.method, request.path) {
            case (.get, "/users"): .init(body: .text("page \(request.query("page") ?? "1")"))
            default: .init(status: .notFound)
            }
        }
        let client = HTTPClient(baseURL: server.url())
        #expect(try await client.send(HTTPRequest("users?page=2")).data == Data("page 2".utf8))
    }

    @Test("What a client makes of a fault")
    func faults() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let client = HTTPClient(baseURL: server.url())
        let faults: [(Fault, HTTPError.Code)] = [
            (.disconnect(.beforeHead), .connectionLost),
            (.disconnect(.insideBody(afterBytes: 3)), .connectionLost),
            (.reset(.insideHead), .connectionLost),
            (.garbage(Array("not HTTP\r\n\r\n".utf8)), .protocolViolation),
        ]
        for (fault, code) in faults {
            server.enqueue(.init(body: "hello", fault: fault))
            await #expect("\(fault)") {
                try await client.send(HTTPRequest(.post, "greeting"))
            } throws: { error in
                (error as? HTTPError)?.code == code
            }
        }
    }

    @Test("Faults between a client and a real server")
    func chaosRules() async throws {
        let transport = StubTransport(status: .ok, body: "hello")
        let chaos = Chaos(
            seed: 1,
            rules: [
                .init(.status(.serviceUnavailable), share: 0.1) { $0.method == .get },
                .init(.disconnect(.insideBody(afterBytes: 1_000)), share: 0.01),
                .init(.delay(.exponential(mean: .milliseconds(200)))),
            ])
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            Resilience.standard
            chaos
        }
        chaos.isEnabled = true
        let response = try? await client.send(HTTPRequest("users"))
        #expect(response?.trace.events(named: "chaos.injected").isEmpty == false)
    }

    @Test("A test that doesn't wait")
    func clock() async throws {
        let clock = TestClock()
        let stub = StubTransport(sequence: [.respond(.serviceUnavailable), .respond(.ok)])
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 1
        configuration.clock = clock
        configuration.random = { 0.5 }  // half of the longest wait, by full jitter
        configuration.timeout = nil  // it would sleep on the clock, too
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: configuration, transport: stub)

        async let response = client.send(HTTPRequest("users"))
        await clock.waitForSleepers()  // the wait before the retry
        #expect(stub.requests.count == 1)
        clock.advance(by: .milliseconds(500))
        #expect(try await response.status == .ok)
    }

    @Test("A recording of a real transport")
    func recording() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: .found, headers: [.location: "/there"]), .init(body: "here I am"))
        let recording = RecordingTransport(HTTPClient.defaultTransport)
        let client = HTTPClient(baseURL: server.url(), transport: recording)
        _ = try await client.send(HTTPRequest("here"))

        let statuses = try recording.exchanges.map { try $0.result.get().status }
        #expect(statuses == [.found, .ok])
        #expect(recording.exchanges.map(\.request.url.path) == ["/here", "/there"])
    }

    @Test("What was recorded answers from then on")
    func fixtures() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(headers: ["Set-Cookie": "sid=s3cret"], body: try .json(User(name: "Ann"))))
        let api = server.url()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).har").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        for _ in 1...2 {
            let archive = try FileManager.default.fileExists(atPath: file) ? HARArchive(contentsOf: file) : HARArchive([])
            let replay = ReplayTransport(archive, miss: .record(HTTPClient.defaultTransport))
            let client = HTTPClient(baseURL: api, transport: replay)
            let user = try await client.get("users/42").value(User.self)
            try replay.archive.encoded().write(to: URL(fileURLWithPath: file))
            #expect(user == User(name: "Ann"))
        }
        #expect(server.requestCount == 1)
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("s3cret"))
        let offline = HTTPClient(baseURL: server.url(), transport: ReplayTransport(try HARArchive(contentsOf: file)))
        await #expect {
            try await offline.get("users/43").data()
        } throws: { error in
            (error as? HTTPError)?.code == .notRecorded
        }
    }

    @Test("The laws are those of the table")
    func lawsOfTheTable() throws {
        let page = MarkdownPage(path: "Documentation/Testing.md")
        #expect(try page.table(below: "Laws") == InterceptorLaw.allCases.map(\.rawValue))
    }

    struct MyInterceptor: RequestInterceptor {
        func intercept(request: inout HTTPRequest) async throws { request.headers["X-Mine"] = "1" }
    }

    @Test("Keeps to the laws of interceptors", .timeLimit(.minutes(10)))
    func laws() async throws {
        try await assertInterceptorLaws { MyInterceptor() }
    }

    struct Fallback: HTTPInterceptor {
        let stage = InterceptorStage.call
        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            do {
                return try await next(request)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                return HTTPResponse(status: .ok, request: request)
            }
        }
    }

    @Test("An interceptor that is there to break a law")
    func lawsButOne() async throws {
        let laws = Set(InterceptorLaw.allCases).subtracting([.passesErrors])
        try await assertInterceptorLaws(laws) { Fallback() }
        await #expect(throws: InterceptorLawViolation.self) {
            try await assertInterceptorLaws([.passesErrors]) { Fallback() }
        }
    }
}
