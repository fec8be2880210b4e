import Foundation
import Midstream
import MidstreamTesting
import Testing

#if os(Linux)
    import MidstreamWire
#endif

@Suite("CallSites.md", .timeLimit(.minutes(10)))
struct CallSitePageExamples {
    private struct User: Codable, Sendable { let name: String }
    private struct Problem: Decodable { let title: String }

    private let stub = StubTransport(status: .ok, body: .json(text: #"{"name": "Ann"}"#))
    private var client: HTTPClient { HTTPClient(baseURL: "https://api.example.com", transport: stub) }

    @Test("Requests")
    func requests() async throws {
        let name = "../x"
        let cursor: String? = nil
        let user = try await client.get("users/\(name)").data()
        let posts = try await client.get("posts").query(["after": cursor, "limit": 100]).data()
        let moved = try await client.get("old").redirects(.refuse).response()
        #expect(user == posts && moved.status == .ok)
        #expect(stub.requests.map(\.urlText).prefix(2).map { $0.dropFirst(24) } == ["users/..%2Fx", "posts?limit=100"])
    }

    @Test("Retries")
    func retries() async throws {
        let user = try await client.get("users/42").retries(2).timeout(.seconds(5)).value(User.self)
        #expect(user.name == "Ann")
    }

    @Test("Tokens")
    func tokens() async throws {
        let tokens = AppTokens()
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            .bearer { rejected in try await tokens.refresh(insteadOf: rejected) }
        }
        _ = try await client.get("users").data()
        #expect(stub.requests.first?.headers[.authorization] == "Bearer fresh")
    }

    @Test("Failures")
    func failures() async throws {
        let failing = StubTransport { request in
            if request.method == .get { throw HTTPError(.timeout) }
            return HTTPResponse(status: .conflict, body: .json(text: #"{"title": "Sold out"}"#), request: request)
        }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: failing)
        let order = User(name: "Ann")
        var problem: Problem?
        do {
            _ = try await client.post("orders", json: order).data()
        } catch let error as HTTPError where error.response != nil {
            problem = try error.decode(Problem.self)
        }
        var report: String? = "old"
        do {
            report = try await client.get("report").string()
        } catch let error as HTTPError where error.cause == .timeout {
            report = nil
        }
        #expect(problem?.title == "Sold out" && report == nil)
    }

    @Test("Files")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appendingPathComponent("\(UUID().uuidString).mp4")
        let copy = folder.appendingPathComponent("\(UUID().uuidString).mp4")
        defer { for one in [file, copy] { try? FileManager.default.removeItem(at: one) } }
        try Data("0123456789".utf8).write(to: file)
        let title = "Rain"
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { .init(body: .bytes($0.body)) }
        let client = HTTPClient(baseURL: server.url())
        _ = try await client.put("parts/2", body: .file(file, range: 4..<10)).data()
        _ = try await client.post("films", body: .multipart([.field("title", title), .file("film", file)])).data()
        try await client.get("film").download(to: copy) { print($0.fraction ?? 0) }
        #expect(try await server.takeRequest().text == "456789")
        #expect(try await server.takeRequest().text.contains("0123456789"))
    }

    @Test("Events")
    func events() async throws {
        let stub = StubTransport(
            status: .ok, headers: ["Content-Type": "text/event-stream"],
            body: .text("event: price\ndata: 42\n\ndata: closed\n\n"))
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        for try await event in client.events(HTTPRequest("prices")) {
            print(event.name, event.data)
            if event.data == "closed" { break }
        }
        #expect(stub.requests.count == 1)
    }

    @Test("A test without a network")
    func stubbed() async throws {
        let client = HTTPClient(transport: StubTransport(status: .ok, body: .json(text: #"{"name": "Ann"}"#)))
        #expect(try await client.get("https://h/").value(User.self).name == "Ann")
    }

    #if os(Linux)
        @Test("A proxy")
        func proxy() {
            let client = HTTPClient(transport: WireTransport(configuration: .init(proxy: .http("http://proxy.example.com:3128"))))
            #expect(client.pipeline.transport == "WireTransport")
        }
    #endif
}
