import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTelemetry

@Suite("The live page", .leavesNothing, .timeLimit(.minutes(10)))
struct InspectorTests {
    private func client(_ inspector: InspectorObserver) -> HTTPClient {
        testClient(
            baseURL: "https://api.example.com", configuration: .init(observers: [inspector]),
            transport: StubTransport {
                HTTPResponse(status: .ok, headers: [.contentType: "text/plain"], body: .text("hello"), request: $0)
            })
    }

    private func numbers(_ events: String) -> [String] {
        events.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }

    @Test("has the calls that were made, and gets those that end while it is open")
    func live() async throws {
        let inspector = try InspectorObserver(bodies: 100, title: "Now")
        let (page, client) = (try LivePage(inspector), client(inspector))
        _ = try await client.send(HTTPRequest("before"))
        let (head, html) = split(try await page.answer(to: page.request()))
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.contains("Content-Length: \(html.utf8.count)\r\n"))
        #expect(head.contains("Content-Security-Policy: default-src 'none'; ") && head.contains("Cache-Control: no-store\r\n"))
        #expect(html.contains("<title>Now</title>") && html.contains("connect-src 'self'"))
        #expect(html.contains("https://api.example.com/before") && html.contains(#""live":{"first":1,"limit":500}"#))
        #expect(html.contains(#""text":"hello""#))

        let reader = try RawClient(port: page.port)
        reader.send(page.request("events?after=1"))
        #expect(await reader.read(until: "\r\n\r\n").contains("Content-Type: text/event-stream\r\n"))
        _ = try await client.send(HTTPRequest("later"))
        let event = await reader.read(until: "\n\n")
        let data = try #require(event.hasPrefix("id: 2\ndata: ") ? event.dropFirst("id: 2\ndata: ".count) : nil)
        let call = try #require(JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
        #expect(
            call["url"] as? String == "https://api.example.com/later"
                && (call["outcome"] as? [String: Any])?["status"] as? Int == 200)
    }

    @Test("keeps the last calls, and goes on where a browser's connection broke")
    func last() async throws {
        let inspector = try InspectorObserver(keeping: 3)
        let (page, client) = (try LivePage(inspector), client(inspector))
        for number in 1...5 { _ = try await client.send(HTTPRequest("\(number)")) }
        let html = try await page.html()
        #expect(
            html.contains(#""live":{"first":3,"limit":3}"#) && !html.contains("example.com/2") && html.contains("example.com/3"))
        #expect(numbers(try await page.events(upTo: 5)) == ["3", "4", "5"])
        #expect(numbers(try await page.events(upTo: 5, fields: "Last-Event-ID: 4\r\n")) == ["5"])
        // A number that this server hasn't given is of an earlier one.
        let reader = try RawClient(port: page.port)
        reader.send(page.request("events?after=99"))
        _ = await reader.read(until: "\r\n\r\n")
        _ = try await client.send(HTTPRequest("6"))
        #expect(numbers(await reader.read(until: "\n\n")) == ["6"])
    }

    @Test("is there for a browser, which leaves out the port 80, and only that")
    func usualPort() {
        for (port, found) in [(80, InspectorPath.Resource.page), (8080, nil)] as [(Int, InspectorPath.Resource?)] {
            let path = InspectorPath(port: port)
            let target = String(path.url.dropFirst("http://127.0.0.1:\(port)".count))
            #expect(path.resource(target, ["Host": "127.0.0.1:\(port)"]) == .page)
            for name in ["127.0.0.1", "LocalHost"] { #expect(path.resource(target, ["Host": name]) == found) }
        }
    }

    @Test("isn't there for who comes by another name or path, and says nothing about it")
    func strangers() async throws {
        let inspector = try InspectorObserver()
        let page = try LivePage(inspector)
        let host = "Host: 127.0.0.1:\(page.port)\r\n"
        let wrong = page.path.replacing(/[0-9a-f]\/$/) { $0.output.first == "0" ? "1/" : "0/" }
        for (request, status) in [
            ("GET \(page.path) HTTP/1.1\r\nHost: evil.example\r\n\r\n", 404),
            ("GET \(page.path) HTTP/1.1\r\nHost: evil.example:\(page.port)\r\n\r\n", 404),
            ("GET \(page.path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404),
            ("GET \(page.path) HTTP/1.1\r\n\r\n", 400), ("GET \(page.path) HTTP/1.0\r\n\r\n", 404),
            ("GET / HTTP/1.1\r\n\(host)\r\n", 404), ("GET /favicon.ico HTTP/1.1\r\n\(host)\r\n", 404),
            ("GET \(wrong) HTTP/1.1\r\n\(host)\r\n", 404), ("GET \(page.path.dropLast()) HTTP/1.1\r\n\(host)\r\n", 404),
            (page.request("other"), 404), (page.request("eventsmore"), 404), (page.request("../"), 404),
            (page.request("", "POST", fields: "Content-Length: 3\r\n") + "abc", 405), (page.request("", "HEAD"), 405),
            ("POST / HTTP/1.1\r\n\(host)Content-Length: 3\r\n\r\nabc", 404),
            ("GET \(page.path) HTTP/3.0\r\n\(host)\r\n", 505), ("nonsense\r\n\r\n", 400),
            (page.request(fields: "X: " + String(repeating: "x", count: 20_000) + "\r\n"), 431),
            (page.request().replacing("127.0.0.1", with: "LocalHost"), 200),
        ] {
            let answer = try await page.answer(to: request)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request.prefix(200))")
            guard status != 200 else { continue }
            #expect(split(answer).body.isEmpty && !answer.contains(page.path) && answer.contains("Content-Length: 0\r\n"))
        }
        #expect(Set(try (0..<10).map { _ in try LivePage(InspectorObserver()).path }).count == 10)
    }

    @Test("gives up clients that take too long for a request, and those that send without an end")
    func slowHeads() async throws {
        let inspector = try InspectorObserver(patience: .milliseconds(100))
        let page = try LivePage(inspector)
        #expect(try await page.answer(to: "GET \(page.path) HTTP/1.1\r\nHost:") == "")
        let endless = try RawClient(port: page.port)
        // To its end by itself: it has one of the few threads that tasks have.
        let sender = Task.detached { while endless.send("X: " + String(repeating: "x", count: 60_000) + "\r\n") {} }
        _ = await endless.readAll()
        await sender.value
    }

    @Test("serves no more than sixteen at once")
    func crowd() async throws {
        // Those that say nothing stay for as long as the test looks.
        let inspector = try InspectorObserver(patience: .seconds(120))
        let page = try LivePage(inspector)
        let crowd = try (0..<16).map { _ in try RawClient(port: page.port) }
        #expect(try await page.answer(to: page.request()) == "")
        crowd[7].leave()
        await eventually { (try? await page.answer(to: page.request()))?.hasPrefix("HTTP/1.1 200 ") == true }
    }

    @Test("drops readers that don't read")
    func slowReader() async throws {
        let inspector = try InspectorObserver(bodies: 256 << 10, patience: .milliseconds(100))
        let page = try LivePage(inspector)
        let client = testClient(
            configuration: .init(observers: [inspector]),
            transport: StubTransport { request in
                HTTPResponse(
                    status: .ok, headers: [.contentType: "text/plain"], body: .bytes([UInt8](repeating: 65, count: 256 << 10)),
                    request: request)
            })
        // More than the sockets' buffers take.
        for _ in 0..<64 { _ = try await client.send(HTTPRequest("https://h/")) }
        let reader = try RawClient(port: page.port)
        reader.send(page.request("events"))
        // It has been accepted then; how long it stays isn't known.
        _ = await reader.read { !$0.isEmpty }
        await eventually { inspector.server.connectionCount == 0 }
        #expect(await reader.readAll().text.contains("id: 64\n") == false)
    }

    @Test("ends when it is closed, whatever is open")
    func closing() async throws {
        let inspector = try InspectorObserver()
        let (page, client) = (try LivePage(inspector), client(inspector))
        #expect(throws: InspectorObserver.Failure.self) { try InspectorObserver(port: page.port) }
        let (idle, reader) = (try RawClient(port: page.port), try RawClient(port: page.port))
        reader.send(page.request("events"))
        _ = await reader.read(until: "\r\n\r\n")
        inspector.close()
        inspector.close()
        #expect(await reader.readAll().text == "")
        _ = await idle.readAll()
        #expect(throws: (any Error).self) { try RawClient(port: page.port) }
        _ = try await client.send(HTTPRequest("still"))
    }

    @Test("ends with the client, although it has kept the client's calls")
    func release() async throws {
        var inspector: InspectorObserver? = try InspectorObserver()
        let page = try LivePage(try #require(inspector))
        do {
            let client = client(try #require(inspector))
            inspector = nil
            _ = try await client.send(HTTPRequest("one"))
            #expect(try await page.html().contains("example.com/one"))
        }
        await eventually { (try? RawClient(port: page.port)) == nil }
    }
}
