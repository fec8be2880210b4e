import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Streams.md", .timeLimit(.minutes(10)))
struct StreamExamples {
    private struct Order: Decodable { let amount: Int }

    private final class Printer: Sendable {
        func write(_ text: String) {}
    }

    private func client(_ stub: StubTransport) -> HTTPClient { HTTPClient(baseURL: "https://api.example.com", transport: stub) }

    struct Prompt: Encodable {
        var prompt: String
        var stream = true
    }

    @Test("Events")
    func events() async throws {
        let stub = StubTransport(
            status: .ok, headers: ["Content-Type": "text/event-stream"],
            body: .text("event: price\nid: 1\ndata: 42\n\ndata: closed\n\n"))
        let client = client(stub)
        for try await event in client.events(HTTPRequest("prices")) {
            print(event.name, event.data, event.id)
            if event.data == "closed" { break }
        }
        let answer = Printer()
        let prompt = try HTTPBody.json(Prompt(prompt: "Hello"))
        for try await event in client.events(HTTPRequest(.post, "answers", body: prompt)) {
            answer.write(event.data)
        }
        #expect(stub.requests.map(\.method) == [.get, .post])
        // A text would be refused.
        let sent = String(decoding: stub.requests.last?.body.bytes ?? [], as: UTF8.self)
        #expect(sent.contains("\"stream\":true"))
    }

    @Test("Lines and JSON values")
    func lines() async throws {
        let client = client(StubTransport(status: .ok, body: .text("{\"amount\": 1}\n\n{\"amount\": 2}\n")))
        for try await line in try await client.stream(HTTPRequest("log")).body.lines() { print(line) }
        var total = 0
        for try await order in try await client.stream(HTTPRequest("orders")).jsonLines(Order.self) {
            total += order.amount
        }
        #expect(total == 3)
    }

    @Test("What a bad line is called")
    func badLine() async throws {
        let body = HTTPBody.text("{\"amount\":1}\n\n{\"amount\":\"x\"}\n")
        var message = ""
        do {
            for try await _ in body.jsonLines(Order.self) {}
        } catch let error as HTTPError {
            message = error.message
        }
        let page = try MarkdownPage(path: "Documentation/Streams.md").lines().joined(separator: "\n")
        #expect(page.contains("`\(message)`"))
    }

    @Test("Parts")
    func parts() async throws {
        let client = client(
            StubTransport(
                status: .ok, headers: ["Content-Type": "multipart/mixed; boundary=b"],
                body: .text("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n")))
        for try await part in try await client.stream(HTTPRequest("album")).parts() {
            print(part.headers[.contentType] ?? "", try await part.body.collect().count)
        }
    }

    @Test("Sending parts")
    func sendingParts() async throws {
        let cover = FileManager.default.temporaryDirectory.appendingPathComponent("cover-\(UUID().uuidString)")
        try Data("png".utf8).write(to: cover)
        defer { try? FileManager.default.removeItem(at: cover) }
        let stub = StubTransport(status: .ok)
        let client = client(stub)
        var album = Multipart.related(type: "application/json")
        album.add(try .json(["title": "Walden"]))
        album.add(.file(cover), headers: ["Content-Type": "image/png", "Content-ID": "<cover>"])
        _ = try await client.send(HTTPRequest(.post, "albums", body: .multipart(album)))
        let sent = try #require(stub.requests.first)
        #expect(
            sent.headers[.contentType]?.hasPrefix("multipart/related; type=\"application/json\"; boundary=midstream-") == true)
        #expect(try await sent.body.collect().count == Int(sent.body.length ?? 0))
    }
}
