import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("ModifierReference.md", .timeLimit(.minutes(10)))
struct ModifierExamples {
    private struct User: Codable, Sendable { let name: String }

    @Test("Request, modifiers, answer")
    func order() async throws {
        let stub = StubTransport(status: .ok, body: .json(text: #"[{"name": "Ann"}]"#))
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let names = try await client.get("users")  // the request
            .query("page", 2)
            .retries(3)
            .acceptOnlyStatusCode([200, 404])  // modifiers, the last one outermost
            .decode([User].self)
            .map { $0.payload.map(\.name) }
            .value()  // the answer
        #expect(names == ["Ann"])
        #expect(stub.requests.first?.urlText == "https://api.example.com/users?page=2")
    }

    @Test("A group is a task")
    func group() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: request.url.path.hasSuffix("home") ? .ok : .notFound, body: "home", request: request)
        }
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let pages = GroupTask(["home", "about"], concurrency: 2) { client.get("pages/\($0)").extractPayload() }
            .deadline(.seconds(10))
            .map { $0.compactMapValues { try? $0.get() } }
        let found = try await pages.result()
        #expect(found == ["home": Data("home".utf8)])
    }

    @Test("The tables have all methods of tasks, and no other")
    func complete() throws {
        var declared: Set<String> = []
        var isTask = false
        let tasks = try Repository.lines(of: "Documentation/API/MidstreamTasks.txt")
        for line in try tasks + Repository.lines(of: "Documentation/API/MidstreamTransfers.txt") {
            if !line.hasPrefix(" ") {
                isTask = line.firstMatch(of: /^(struct DataTask:|extension DataTask$|protocol RequestTask<)/) != nil
            }
            if isTask, let name = line.firstMatch(of: /func (\w+)/)?.1 { declared.insert(String(name)) }
        }
        let page = MarkdownPage(path: "Documentation/ModifierReference.md")
        let named = try ["What is sent", "Modifiers", "Answers"].flatMap { try page.table(below: $0) }
            .compactMap { $0.firstMatch(of: /^\.(\w+)/).map { String($0.1) } }
        #expect(declared.count > 30)
        #expect(Set(named) == declared)
    }
}
