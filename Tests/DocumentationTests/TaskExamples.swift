import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Tasks.md", .timeLimit(.minutes(10)))
struct TaskExamples {
    struct User: Codable, Sendable, Equatable { let name: String }

    private func client(_ replies: StubTransport.Reply...) -> (HTTPClient, StubTransport) {
        let transport = StubTransport(sequence: replies)
        return (HTTPClient(baseURL: "https://api.example.com", transport: transport), transport)
    }

    @Test("A request as a task")
    func request() async throws {
        let (client, transport) = client(.respond(.ok, body: .text(#"{"name": "Ann"}"#)))
        let id = 42
        let user = try await client.get("users/\(id)")
            .query("full", true)
            .header(.acceptLanguage, "en")
            .timeout(.seconds(5))
            .retries(3)
            .value(User.self)
        #expect(user == User(name: "Ann"))
        let sent = try #require(transport.requests.first)
        #expect(sent.urlText == "https://api.example.com/users/42?full=true")
        #expect(sent.headers[.acceptLanguage] == "en")
    }

    @Test("A body")
    func body() async throws {
        let (client, transport) = client(.respond(.created))
        let head = try await client.post("users", json: User(name: "Bob")).result().head
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
            .value()
        #expect(!exists)
    }

    @Test("A text with a byte that is none of it")
    func lossyText() async throws {
        let (client, _) = client(.respond(.ok, body: .bytes([0x61, 0xFF])), .respond(.ok, body: .bytes([0x61, 0xFF])))
        let text = String(decoding: try await client.get("report").data(), as: UTF8.self)
        #expect(text == "a\u{FFFD}")
        await #expect(throws: HTTPError.self) { try await client.get("report").string() }
    }

    private struct Post: Codable, Sendable, Equatable { let postTitle: String }

    @Test("Optional items of a query")
    func queryItems() async throws {
        let (client, transport) = client(.respond(.ok, body: .text("[]")))
        let cursor: String? = nil
        let posts = try await client.get("posts")
            .query(["page": 2, "drafts": true, "after": cursor])
            .value([Post].self)
        #expect(posts.isEmpty && transport.requests.first?.urlText == "https://api.example.com/posts?page=2&drafts=true")
    }

    @Test("A decoder of the client's")
    func decoder() async throws {
        let transport = StubTransport(status: .ok, body: .json(text: #"{"post_title": "Rain"}"#))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(decoder: decoder), transport: transport)
        #expect(try await client.get("posts/1").value(Post.self) == Post(postTitle: "Rain"))
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

    @Test("No body, or one", arguments: [nil, #"{"name": "Bob"}"#])
    func noBody(text: String?) async throws {
        let (client, _) = client(text.map { .respond(.ok, body: .text($0)) } ?? .respond(.noContent))
        let answer = try await client.get("users/42/deputy").response()
        let deputy = answer.status == .noContent ? nil : try answer.decode(User.self)
        #expect(deputy?.name == (text == nil ? nil : "Bob"))
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
        server.enqueue(.init(body: .pattern(length: 300_000)), .init(body: "stored"))
        let client = HTTPClient(baseURL: server.url())
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("midstream-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let fractions = Recorder()
        try await client.get("film").download(to: file) { progress in
            fractions.write("\(progress.fraction ?? 0)")
        }
        #expect(try Data(contentsOf: file).count == 300_000)
        #expect(fractions.events.last == "1.0")
        fractions.clear()

        let film = try await client.put("films/1", body: .file(file))
            .progress(.upload) { fractions.write("\($0.fraction ?? 0)") }
            .data()
        #expect(film == Data("stored".utf8))
        #expect(fractions.events.last == "1.0")
    }

    @Test("Two kinds of retries")
    func retries() async throws {
        let (client, transport) = client(
            .respond(.ok, body: .text("not yet")), .respond(.ok, body: .text(#"{"name": "Ann"}"#)))
        let user = try await client.get("users/42")
            .decode(User.self)
            .askAgain(2, when: { ($0 as? HTTPError)?.code == .decoding })
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
