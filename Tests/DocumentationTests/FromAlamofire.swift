import Foundation
import Midstream
import MidstreamTesting
import Testing

/// Where the tokens of an app come from.
actor AppTokens {
    func refresh(insteadOf rejected: String?) async throws -> String { "fresh" }
    func refresh() async throws -> String { "fresh" }
}

@Suite("Coming from Alamofire", .timeLimit(.minutes(10)))
struct FromAlamofire {
    private struct User: Decodable, Sendable { let name: String }

    private let stub = StubTransport(status: .ok, body: .json(text: #"{"name": "Ann"}"#))

    @Test("A request")
    func request() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let user = try await client.get("users/42").query("full", true).value(User.self)
        #expect(user.name == "Ann" && stub.requests.first?.urlText == "https://api.example.com/users/42?full=true")
    }

    @Test("Adapt and retry")
    func adapting() async throws {
        struct Language: RequestInterceptor {
            func intercept(request: inout HTTPRequest) async throws {
                request.headers[.acceptLanguage] = "en"
            }
        }
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(maxRetries: 2), transport: stub
        ) {
            Language()
        }
        _ = try await client.get("users/42").data()
        #expect(stub.requests.first?.headers[.acceptLanguage] == "en")
    }

    @Test("Tokens")
    func tokens() async throws {
        let tokens = AppTokens()
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            .bearer { rejected in try await tokens.refresh(insteadOf: rejected) }
        }
        _ = try await client.get("users/42").data()
        #expect(stub.requests.first?.headers[.authorization] == "Bearer fresh")
    }

    @Test("Bodies, files, progress")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appendingPathComponent("\(UUID().uuidString).mp4")
        let copy = folder.appendingPathComponent("\(UUID().uuidString).mp4")
        defer { for one in [file, copy] { try? FileManager.default.removeItem(at: one) } }
        try Data("film".utf8).write(to: file)
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: "film") }
        let client = HTTPClient(baseURL: server.url())
        let form: [MultipartForm.Part] = [.field("title", "Rain"), .file("film", file, contentType: "video/mp4")]
        _ = try await client.post("films", body: .multipart(form)).data()

        try await client.get("film").download(to: copy) { print($0.fraction ?? 0) }
        let sent = try await server.takeRequest().text
        #expect(sent.contains("Rain") && sent.contains("video/mp4"))
        #expect(try Data(contentsOf: copy) == Data("film".utf8))
    }
}
