import Foundation
import Interception
import Midstream
import MidstreamTesting
import Testing

/// The lines that people write most. Each has to compile as it is written here, and to do what it says.
@Suite("Call sites")
struct CallSites {
    private struct User: Codable, Sendable, Equatable {
        var id = 42
        var name = "Ann"
    }

    private struct Problem: Decodable, Sendable {
        let reason: String
    }

    private let stub = StubTransport { request in
        if request.urlText.hasSuffix("/missing") {
            return HTTPResponse(status: .notFound, body: .json(text: #"{"reason": "gone"}"#), request: request)
        }
        return HTTPResponse(status: .ok, body: .json(text: #"{"id": 42, "name": "Ann"}"#), request: request)
    }

    private var client: HTTPClient { HTTPClient(baseURL: "https://api.example.com", transport: stub) }

    @Test func valuesBehindEveryModifier() async throws {
        let id = 42
        let decoded = try await client.get("users/\(id)").decode(User.self).value()
        let typed = try await client.get("users/\(id)").value(User.self)
        let inferred: User = try await client.get("users/42").value()
        let data = try await client.get("users/42").value()
        let extracted = try await client.get("users/42").decode(User.self).extractPayload().value()
        let mapped = try await client.get("users/42").decode(User.self).map { $0.payload.name }.value()
        let part = try await client.get("users/42").keyPath(\.name).value(String.self)
        let rest = try await client.get("users/42").timeout(.seconds(1)).deadline(.seconds(2)).askAgain(1)
            .acceptOnlyStatusCode([200]).logInConsole(false).decode(User.self).value()
        let raw = try await client.get("users/42").extractPayload().value(User.self)
        #expect([decoded, typed, inferred, extracted, rest, raw] == Array(repeating: User(), count: 6))
        #expect(!data.isEmpty && mapped == "Ann" && part == "Ann")
    }

    @Test func urlsOfAllKinds() async throws {
        let base = URL(string: "https://api.example.com/v2")!
        let client = HTTPClient(baseURL: base, transport: stub)
        let name = "a/b"
        let path = "users/a%2Fb"
        _ = try await client.get("users/\(name)").data()
        _ = try await client.get(path).data()
        _ = try await client.get(URL(string: "https://api.example.com/v2/users/a%2Fb")!).data()
        _ = try await client.send(HTTPRequest("users/\(name)"))
        _ = try await client.send(.get("users/\(name)", as: User.self))
        _ = try await client.get(.template("users/{name}", ["name": name])).data()
        #expect(stub.requests.map(\.urlText) == Array(repeating: "https://api.example.com/v2/users/a%2Fb", count: 6))
    }

    @Test func queries() async throws {
        let cursor: String? = nil
        _ = try await client.get("posts").query("after", cursor).query("page", 2).query("flag").data()
        _ = try await client.get("posts").query("after", nil).query(["page": 2, "drafts": true, "after": cursor]).data()
        #expect(
            stub.requests.map(\.urlText) == [
                "https://api.example.com/posts?page=2&flag", "https://api.example.com/posts?page=2&drafts=true",
            ])
    }

    @Test func bodies() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
        try Data("0123456789".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let note = "n"
        _ = try await client.post("users", json: User()).value(User.self)
        _ = try await client.post("notes", body: "note \(note)").data()
        _ = try await client.post("films", body: .multipart([.field("note", note), .file("file", file)])).data()
        _ = try await client.put("parts/2", body: .file(file, range: 3..<7)).data()
        _ = try await client.post("films", body: .multipart([.body("part", .file(file, range: 3..<7))])).data()
        let texts = try await stub.requests.asyncMap { String(decoding: try await $0.body.collect(), as: UTF8.self) }
        #expect(texts[0].contains("\"Ann\"") && texts[1] == "note n" && texts[3] == "3456")
        #expect(texts[2].contains("name=\"note\"\r\n\r\nn\r\n") && texts[2].contains("0123456789") && texts[4].contains("3456"))
    }

    @Test func statuses() async throws {
        let validator = DefaultValidator(acceptableStatus: 200..<300)
        #expect(validator.acceptableStatus.contains(299) && !validator.acceptableStatus.contains(300))
        _ = try await client.get("users/42").acceptOnlyStatusCode(200..<300).data()
        _ = try await client.get("users/42").acceptOnlyStatusCode(200...299).data()
        _ = try await client.get("users/42").onStatusCode(400..<500) { throw CancellationError() }.data()
        _ = try await client.get("users/42").onStatusCode(400...499) { _ in throw CancellationError() }.data()
        let range = HTTPStatus(400)..<HTTPStatus(500) as Range<HTTPStatus>
        _ = try await client.get("users/42").onStatusCode(range) { throw CancellationError() }.data()
    }

    @Test func errors() async throws {
        var found: [String] = []
        for path in ["missing", "late"] {
            let failing = StubTransport { request in
                guard request.urlText.hasSuffix("/missing") else { throw HTTPError(.timeout) }
                return HTTPResponse(status: .notFound, body: .json(text: #"{"reason": "gone"}"#), request: request)
            }
            let client = HTTPClient(
                baseURL: "https://api.example.com",
                configuration: .init(
                    maxRetries: 1, validators: [DefaultValidator(retriableErrors: [.timeout: .immediate])]),
                transport: failing)
            do {
                _ = try await client.get("\(path)").value(User.self)
            } catch let error as HTTPError where error.cause == .timeout {
                found.append("slow: \(error.code)")
            } catch let error as HTTPError where error.response?.status == .notFound {
                found.append(try error.decode(Problem.self).reason)
            }
        }
        #expect(found == ["gone", "slow: retriesExhausted"])
    }

    @Test func downloads() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.respond { _ in .init(body: .pattern(length: 300_000)) }
        let client = HTTPClient(baseURL: server.url())
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).film")
        defer { try? FileManager.default.removeItem(at: file) }
        let last = Locked<Double?>(nil)
        try await client.get("film").progress(.download) { progress in last.withLock { $0 = progress.fraction } }.download(
            to: file)
        #expect(last.withLock { $0 } == 1)
        last.withLock { $0 = nil }
        try await client.get("film").download(to: file) { progress in last.withLock { $0 = progress.fraction } }
        #expect(last.withLock { $0 } == 1)
        #expect(try Data(contentsOf: file).count == 300_000)
    }

    @Test func pipelines() {
        let token = "t"
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            .logging
                .traceparent
                .cookies()
                .apiKey("k", query: "key")
                .bearer { try await Self.fetch() }
                .bearer { old in old ?? "" }
                .bearer(token)
                .basic(user: "u", password: "p")
                .logging(at: .exchange) { _ in }
            ClosureRequestInterceptor("Language") { $0.headers[.acceptLanguage] = "en" }
        }
        #expect(client.pipeline.entries.count == 12)
    }

    private static func fetch() async throws -> String { "t" }

    @Test func settings() {
        let client = HTTPClient(
            baseURL: "https://api.example.com", configuration: .init(timeout: .seconds(10), maxRetries: 2), transport: stub)
        #expect(client.configuration.timeout == .seconds(10) && client.configuration.maxRetries == 2)
        #expect(client.configuration.maximumBufferedBody == HTTPBody.defaultCollectLimit)
    }
}

extension [HTTPRequest] {
    fileprivate func asyncMap<Value>(_ transform: (HTTPRequest) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for request in self { values.append(try await transform(request)) }
        return values
    }
}
