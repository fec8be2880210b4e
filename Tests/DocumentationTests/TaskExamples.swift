import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Tasks.md", .timeLimit(.minutes(1)))
struct TaskExamples {
    struct User: Codable, Sendable, Equatable { let name: String }

    private func client(_ replies: StubTransport.Reply...) -> (HTTPClient, StubTransport) {
        let transport = StubTransport(sequence: replies)
        return (HTTPClient(baseURL: "https://api.example.com", transport: transport), transport)
    }

    @Test("A request as a task")
    func request() async throws {
        let (client, transport) = client(.respond(.ok, body: .text(#"{"name": "Ann"}"#)))
        let user = try await client.get("users/42")
            .query("full", "1")
            .header(.acceptLanguage, "en")
            .timeout(.seconds(5))
            .retries(3)
            .value(User.self)
        #expect(user == User(name: "Ann"))
        let sent = try #require(transport.requests.first)
        #expect(sent.urlText == "https://api.example.com/users/42?full=1")
        #expect(sent.headers[.acceptLanguage] == "en")
    }

    @Test("A body")
    func body() async throws {
        let (client, transport) = client(.respond(.created))
        let head = try await client.post("users", body: .json(User(name: "Bob"))).result().head
        #expect(head.status == .created)
        #expect(transport.requests.first?.headers[.contentType] == "application/json")
    }

    @Test("Any status can be looked at, and a rejected one has no payload")
    func statuses() async throws {
        let (client, _) = client(.respond(.notFound), .respond(.notFound), .respond(.notFound))
        let result = try await client.get("users/43").result()
        print(result.head.status)  // 404 Not Found; nothing was thrown
        #expect(result.head.status == .notFound)
        await #expect(throws: HTTPError.self) { try await client.get("users/43").value(User.self) }
        let exists = try await client.get("users/43")
            .acceptOnlyStatusCode([200, 404])
            .map { $0.head.status == .ok }
            .result()
        #expect(!exists)
    }

    @Test("A part of a body")
    func keyPath() async throws {
        let (client, _) = client(
            .respond(.ok, body: .text(#"{"data": {"items": [{"display-name": "Ann"}]}}"#)))
        let name = try await client.get("users")
            .keyPath(\.data.items[0]["display-name"])
            .value(String.self)
        #expect(name == "Ann")
    }

    @Test("Recovering from an error")
    func recovery() async throws {
        let (client, _) = client(.fail(HTTPError(.connection, phase: .notSent)))
        let user = try await client.get("users/42")
            .decode(User.self)
            .extractPayload()
            .mapError { error in
                guard (error as? HTTPError)?.code == .connection else { throw error }
                return User(name: "unknown")
            }
            .result()
        #expect(user.name == "unknown")
    }

    @Test("Pages")
    func pages() async throws {
        let (client, transport) = client(
            .respond(
                .ok, headers: [.link: #"<https://api.example.com/users?page=2>; rel="next""#],
                body: .text(#"[{"name": "Ann"}]"#)),
            .respond(.ok, body: .text(#"[{"name": "Bob"}]"#)))
        var users: [User] = []
        for try await page in client.get("users").pages(.link()).decode([User].self) {
            users += page
        }
        #expect(users.map(\.name) == ["Ann", "Bob"])
        #expect(transport.requests.count == 2)
    }

    @Test("A download with its progress")
    func download() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: .stream(length: 300_000)))
        server.enqueue(.init(body: .stream(length: 300_000)))
        let client = HTTPClient(baseURL: server.url())
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("midstream-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try await client.get("film").download(to: file)
        #expect(try Data(contentsOf: file).count == 300_000)

        let fractions = Recorder()
        let film = try await client.get("film")
            .progress(.download) { fractions.write("\($0.fraction ?? 0)") }
            .data()
        #expect(film.count == 300_000)
        #expect(fractions.events.last == "1.0")
    }

    @Test("Two kinds of retries")
    func retries() async throws {
        let (client, transport) = client(
            .respond(.ok, body: .text("not yet")), .respond(.ok, body: .text(#"{"name": "Ann"}"#)))
        let user = try await client.get("users/42")
            .decode(User.self)
            .retry(2, when: { ($0 as? HTTPError)?.code == .decoding })
            .extractPayload()
            .result()
        #expect(user.name == "Ann")
        #expect(transport.requests.count == 2)
    }

    struct NewsFeed: Sendable {
        let headlines: any RequestTask<[String]>
    }

    @Test("A mocked task")
    func mocked() async throws {
        let feed = NewsFeed(headlines: MockedTask { ["Rain"] })
        #expect(try await feed.headlines.result() == ["Rain"])
    }
}
