import Foundation
import Midstream
import MidstreamSigning
import MidstreamTesting
import Testing

@Suite("Bodies.md", .timeLimit(.minutes(10)))
struct BodyExamples {
    private struct User: Codable, Sendable { let name: String }

    private let server: MockServer
    private let client: HTTPClient
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mp4")

    init() throws {
        let server = try MockServer()
        server.respond { .init(body: .bytes($0.body)) }
        (self.server, client) = (server, HTTPClient(baseURL: server.url()))
        try Data("0123456789".utf8).write(to: file)
    }

    private func sent() async throws -> (type: String?, text: String) {
        let request = try await server.takeRequest()
        return (request.headers[.contentType], request.text)
    }

    private func end() {
        try? FileManager.default.removeItem(at: file)
        server.shutdown()
    }

    @Test("Kinds")
    func kinds() async throws {
        defer { end() }
        let password = "a=b"
        let note = "milk & bread"
        _ = try await client.post("notes", body: "buy \(note)").data()
        _ = try await client.post("users", json: User(name: "Ann")).data()
        _ = try await client.post("login", body: .form([("user", "ann"), ("password", password)])).data()
        _ = try await client.put("films/1", body: .file(file).withContentType("video/mp4")).data()
        #expect(try await sent() == ("text/plain; charset=utf-8", "buy milk & bread"))
        #expect(try await sent() == ("application/json", #"{"name":"Ann"}"#))
        #expect(try await sent() == ("application/x-www-form-urlencoded", "user=ann&password=a%3Db"))
        #expect(try await sent() == ("video/mp4", "0123456789"))
    }

    @Test("A stream that can be made anew")
    func stream() async throws {
        defer { end() }
        let numbers = HTTPBody.stream {
            AsyncStream { continuation in
                for number in 1...3 { continuation.yield(Array("\(number)\n".utf8)) }
                continuation.finish()
            }
        }
        _ = try await client.post("numbers", body: numbers).data()
        #expect(try await sent() == (nil, "1\n2\n3\n"))
        #expect(numbers.replayability == .replayable && numbers.length == nil)
    }

    @Test("A form with files")
    func form() async throws {
        defer { end() }
        let picture: [UInt8] = [1, 2, 3]
        let body = HTTPBody.multipart([
            .field("title", "Rain"),
            .field("minutes", 93),
            .file("film", file, contentType: "video/mp4"),
            .body("cover", .bytes(picture), fileName: "cover.png", contentType: "image/png"),
        ])
        _ = try await client.post("films", body: body).data()
        let (type, text) = try await sent()
        #expect(type?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(text.contains("name=\"minutes\"\r\n\r\n93\r\n") && text.contains("filename=\"cover.png\""))
        #expect(text.contains("Content-Type: video/mp4\r\n\r\n0123456789\r\n"))
        #expect(body.length == Int64(text.utf8.count))
    }

    @Test("Parts of one whole")
    func related() async throws {
        defer { end() }
        var parts = Multipart.related(type: "application/json")
        parts.add(.json(text: #"{"name": "rain.mp4"}"#))
        parts.add(.file(file).withContentType("video/mp4"), headers: ["Content-ID": "<film>"])
        _ = try await client.post("upload", body: .multipart(parts)).data()
        let (type, text) = try await sent()
        #expect(type?.hasPrefix("multipart/related; type=\"application/json\"; boundary=") == true)
        #expect(text.contains("Content-ID: <film>") && text.contains("0123456789"))
    }

    @Test("What arrives")
    func arriving() async throws {
        defer { end() }
        server.enqueue(.init(body: .pattern(length: 300_000)))
        let response = try await client.stream(HTTPRequest("film"))
        var received = 0
        for try await chunk in response.body {
            received += chunk.count
        }
        #expect(received == 300_000)
    }

    /// Notes how much of each response was read, and how that ended.
    struct Reading: HTTPInterceptor {
        let stage = InterceptorStage.exchange
        let write: @Sendable (String) -> Void

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            var response = try await next(request)
            response.body = response.body.observedOnArrival { chunk in
                write("\(chunk.count) bytes")
            } onEnd: { end in
                switch end {
                case .complete: write("all of it")
                case .failed(let error): write("broken off: \(type(of: error))")
                case .closed, .released: write("given up")
                }
            }
            return response
        }
    }

    /// Sends no more than so many bytes a second.
    struct UploadPace: RequestInterceptor {
        let stage = InterceptorStage.exchange  // inside what hashes the body
        let bytesPerSecond: Int
        let clock: any Clock<Duration>

        func intercept(request: inout HTTPRequest) async throws {
            let body = request.body
            request.body = body.mapChunks(length: body.length) { chunk in
                try await clock.sleep(for: .seconds(1) * chunk.count / bytesPerSecond)
                return chunk
            }
        }
    }

    /// Names the type of images whose server doesn't.
    struct ImageTypes: ResponseInterceptor {
        func intercept(response: inout HTTPResponse) async throws {
            guard !response.headers.contains(.contentType), response.status != 101 else { return }
            let (start, body) = try await response.body.prefix(upTo: 4)
            response.body = body
            if start == [0x89, 0x50, 0x4E, 0x47] { response.headers[.contentType] = "image/png" }
        }
    }

    @Test("Bodies that pass")
    func passing() async throws {
        defer { end() }
        let (notes, clock) = (Recorder(), TestClock())
        let configuration = HTTPClient.Configuration(timeout: nil)
        let client = HTTPClient(baseURL: server.url(), configuration: configuration) {
            Reading { notes.write($0) }
            ImageTypes()
            UploadPace(bytesPerSecond: 5, clock: clock)
            SendDigest()
        }
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0]
        let ticking = Task {
            while !Task.isCancelled {
                await clock.waitForSleepers()
                clock.advanceToLastDeadline()
            }
        }
        defer { ticking.cancel() }
        let response = try await client.send(HTTPRequest(.put, "film", body: .bytes(png).withContentType("image/png")))
        // What hashes the body doesn't wait for it.
        #expect(clock.now.offset == .seconds(2))
        #expect(response.body.bytes == png)
        #expect(response.headers[.contentType] == "image/png")
        let sent = try await server.takeRequest()
        #expect(sent.headers.contains("Content-Digest"))
        #expect(sent.body == png && sent.headers[.contentLength] == "10" && sent.headers[.contentType] == "image/png")
        #expect(notes.events.last == "all of it")

        notes.clear()
        let given = try await client.stream(HTTPRequest("film"))
        given.body.close()
        #expect(notes.events.last == "given up" || notes.events.last == "all of it")
        #expect(
            try MarkdownPage(path: "Documentation/Bodies.md").table(below: "Bodies that pass").map { $0.prefix { $0 != "(" } }
                .filter { $0.hasPrefix("body.") }
                == [
                    "body.observed", "body.observedOnArrival", "body.mapChunks", "body.prefix", "body.buffered",
                ])
    }

    @Test("The table's media types and lengths")
    func table() throws {
        defer { end() }
        let once = HTTPBody.once(AsyncStream<[UInt8]> { $0.finish() })
        let rows: [(HTTPBody, String, Bool)] = [
            (.text(""), "`text/plain; charset=utf-8`", true), (.json(text: ""), "`application/json`", true),
            (.form([]), "`application/x-www-form-urlencoded`", true), (.bytes([1]), "none", true), (.file(file), "none", true),
            (once, "none", false),
        ]
        let page = try MarkdownPage(path: "Documentation/Bodies.md").lines().joined(separator: "\n")
        for (body, type, isReplayable) in rows {
            #expect(body.contentType.map { "`\($0)`" } ?? "none" == type && page.contains("| \(type) |"))
            #expect((body.replayability == .replayable) == isReplayable)
        }
        #expect(HTTPBody.file(file.appendingPathExtension("missing"), range: 0..<5).length == 5)
    }
}
