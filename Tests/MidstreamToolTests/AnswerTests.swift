import Foundation
import Interception
import Midstream
import MidstreamTelemetry
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("What the tool makes of answers", .leavesNothing, .timeLimit(.minutes(10)))
struct AnswerTests {
    private let server: MockServer
    private let folder: TemporaryFolder

    init() throws {
        // The tool uses the process's own transport, which stays.
        Belongings.current?.excuse("WireLoop")
        server = try MockServer()
        folder = try TemporaryFolder()
    }

    private static let otherDigest = String(repeating: "0", count: 64)

    private func run(_ words: String...) async throws -> Int32 { try await Invocation(Arguments([server.url()] + words)).run() }

    @Test("is told by the exit status", arguments: [200, 302, 404, 502, 700])
    func status(code: Int) async throws {
        server.respond { _ in .init(status: HTTPStatus(code)) }
        let file = folder.url.appendingPathComponent("out").path
        #expect(try await run("-o", file) == (code < 400 ? 0 : 1))
        #expect(try await run("-o", file, "--check-status") == (code < 300 ? 0 : Int32(min(code / 100, 5))))
        #expect(try await run("-o", file, "--expect", "\(code)") == 0)
        #expect(try await run("-o", file, "--expect", "\(code)", "--retries", "1") == 0)
        #expect(try await run("-o", file, "--expect=418") == 1)
    }

    @Test("one that has nothing for a file is none, unless it is expected", arguments: [202, 204])
    func nothingToKeep(code: Int) async throws {
        server.respond { _ in .init(status: HTTPStatus(code)) }
        let file = try folder.file(Array("before".utf8))
        #expect(try await run("-o", file.path) == 1)
        #expect(try await run("-o", file.path, "--check-status") == 1)
        #expect(try await run("-o", file.path, "--expect", "\(code)") == 0)
        #expect(try String(contentsOf: file, encoding: .utf8) == "before")
    }

    @Test("no answer is told as well")
    func noAnswer() async throws {
        server.shutdown()
        let url = try MockServer.refusedURL()
        #expect(try await Invocation(Arguments([url, "--check-status"])).run() == 6)
        #expect(try await Invocation(Arguments([url])).run() == 1)
        let slow = try MockServer()
        defer { slow.shutdown() }
        slow.respond { _ in
            try await untilCancelled()
            return .init()
        }
        #expect(try await Invocation(Arguments([slow.url(), "--check-status", "--timeout", "0.1"])).run() == 7)
    }

    @Test("a file is replaced when the answer is complete, and not before")
    func files() async throws {
        let file = try folder.file(Array("before".utf8))
        var cut = MockServer.Response(body: .bytes([UInt8](repeating: 65, count: 100_000)))
        cut.fault = .disconnect(.insideBody(afterBytes: 1_000))
        server.enqueue(cut)
        #expect(try await run("-o", file.path) == 1)
        #expect(try String(contentsOf: file, encoding: .utf8) == "before")
        server.enqueue(.init(body: "after"))
        #expect(try await run("-o", file.path) == 0)
        #expect(try String(contentsOf: file, encoding: .utf8) == "after")
    }

    /// A run that goes by a clock, and downloads what a stub answers.
    private func download(_ replies: [StubTransport.Reply], _ words: [String], on clock: TestClock) -> Task<Int32, any Error> {
        let words = ["h", "-s", "-o", folder.url.appendingPathComponent("out").path] + words
        return Task {
            try await Invocation(Arguments(words), clock: clock)
                .run(HTTPRequest("https://h/"), by: StubTransport(sequence: replies))
        }
    }

    @Test("the timeout of an attempt isn't that of the wait for the next")
    func waits() async throws {
        let clock = TestClock()
        let replies: [StubTransport.Reply] = [
            .respond(503, headers: [.retryAfter: "3"]), .respond(200, body: .text("hello")),
        ]
        let run = download(replies, ["--timeout", "1", "--retries", "1"], on: clock)
        await clock.waitForSleepers(1)
        clock.advanceToLastDeadline()
        #expect(try await run.value == 0)
    }

    @Test("a file whose body takes longer than the timeout is continued by the next attempt")
    func stalled() async throws {
        let (clock, isStalled, chunks) = (TestClock(), Gate(), Locked([Array("he".utf8)]))
        let body = HTTPBody.incoming(
            length: 5,
            next: {
                if let chunk = chunks.withLock({ $0.popLast() }) { return chunk }
                isStalled.open()
                try await untilCancelled()
                return nil
            }, close: {})
        let replies: [StubTransport.Reply] = [
            .respond(200, headers: ["ETag": "\"1\""], body: body),
            .respond(206, headers: ["ETag": "\"1\"", "Content-Range": "bytes 2-4/5"], body: .text("llo")),
        ]
        let run = download(replies, ["-C", "--timeout", "5", "--retries", "1"], on: clock)
        await isStalled.wait()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        // The pause before what is missing is asked for.
        await clock.waitForSleepers(1)
        clock.advanceToLastDeadline()
        #expect(try await run.value == 0)
        #expect(try String(contentsOf: folder.url.appendingPathComponent("out"), encoding: .utf8) == "hello")
    }

    @Test(
        "one whose body breaks off has its status all the same, which is no success",
        arguments: [(["--check-status"], 4), (["--expect", "404"], 1), (["--expect", "404", "--expect", "json.a"], 1)]
            as [([String], Int32)])
    func brokenRefusal(words: [String], status: Int32) async throws {
        let body = HTTPBody.incoming(next: { throw HTTPError(.connectionLost, "The body broke off.") }, close: {})
        #expect(try await download([.respond(404, body: body)], words, on: TestClock()).value == status)
    }

    @Test(
        "credentials go to the URL's origin alone",
        arguments: [["-u", "user:S3CR3T"], ["--bearer", "S3CR3T"], ["-u", "user:S3CR3T", "--digest"]])
    func credentials(words: [String]) async throws {
        let other = try MockServer()
        defer { other.shutdown() }
        let target = other.url("/elsewhere")
        server.respond { request in
            guard request.headers[.authorization] != nil else {
                return .init(status: 401, headers: [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth""#])
            }
            return .init(status: 302, headers: ["Location": target])
        }
        other.respond { _ in .init() }
        #expect(try await Invocation(Arguments([server.url()] + words)).run() == 0)
        #expect(server.requests.last?.headers[.authorization] != nil)
        #expect(other.requests.count == 1 && other.requests.last?.headers[.authorization] == nil)
    }

    @Test("a file of another digest isn't kept")
    func digests() async throws {
        server.respond { _ in .init(body: "hello") }
        let file = folder.url.appendingPathComponent("out").path
        #expect(try await run("-o", file, "--sha256", Self.otherDigest) == 1)
        #expect(!FileManager.default.fileExists(atPath: file))
        let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        #expect(try await run("-o", file, "--sha256", digest) == 0)
    }

    @Test(
        "a file stays as it was when another content comes or a failure, whatever else is asked for",
        arguments: [["--trace"], ["-i"], ["--expect", "json"], ["--expect", "200"]])
    func kept(words: [String]) async throws {
        server.enqueue(.init(body: "hello"))
        server.enqueue(.init(status: 500, body: "broken"))
        let file = try folder.file(Array("before".utf8))
        let words = [server.url(), "-o", file.path] + words
        #expect(try await Invocation(Arguments(words + ["--sha256", Self.otherDigest])).run() == 1)
        #expect(try String(contentsOf: file, encoding: .utf8) == "before")
        #expect(try await Invocation(Arguments(words)).run() == 1)
        #expect(try String(contentsOf: file, encoding: .utf8) == "before")
    }

    @Test("what is expected of a body is looked for in its file, and in an answer that is none's content")
    func expectationsOfFiles() async throws {
        let file = folder.url.appendingPathComponent("out").path
        for (expected, status) in [("json.a == 1", 0), ("json.a == 2", 1)] as [(String, Int32)] {
            server.enqueue(.init(body: #"{"a":1}"#))
            #expect(try await run("-o", file, "--expect", expected) == status)
            server.enqueue(.init(status: 404, body: #"{"a":1}"#))
            #expect(try await run("-o", file, "--expect", "404", "--expect", expected) == status)
        }
    }

    @Test(
        "what can't be checked before it is kept isn't asked for",
        arguments: [["--sha256", Self.otherDigest], ["-C"]])
    func unchecked(words: [String]) async throws {
        let file = try folder.file(Array("before".utf8))
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let places = [["-o", link.path], ["-o", "-"], ["-o", file.path, "-X", "post"], ["-o", file.path, "-T", file.path]]
        let archive = folder.url.appendingPathComponent("calls.har").path
        for place in places {
            await #expect(throws: UsageError.self) {
                try await Invocation(Arguments([server.url(), "--har", archive] + place + words)).run()
            }
        }
        #expect(throws: UsageError.self) { try Arguments(["replay", archive, "--send", "-o", file.path] + words) }
        #expect(server.requestCount == 0 && !FileManager.default.fileExists(atPath: archive))
        #expect(try String(contentsOf: file, encoding: .utf8) == "before")
    }

    #if os(Linux)
        @Test("a file that broke off is continued by the next run")
        func resume() async throws {
            let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
            var cut = MockServer.Response(headers: ["ETag": "\"1\"", "Accept-Ranges": "bytes"], body: .bytes(body))
            cut.fault = .disconnect(.insideBody(afterBytes: 60_000))
            server.enqueue(cut)
            let file = folder.url.appendingPathComponent("out")
            #expect(try await run("-C", "-o", file.path) == 1)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            server.respond { request in
                guard let first = request.headers[.range].flatMap({ Int($0.dropFirst(6).dropLast()) }) else {
                    return .init(body: .bytes(body))
                }
                let fields: HTTPHeaders = ["ETag": "\"1\"", "Content-Range": "bytes \(first)-99999/100000"]
                return .init(status: 206, headers: fields, body: .bytes(Array(body[first...])))
            }
            #expect(try await run("-C", "-o", file.path) == 0)
            #expect(try Data(contentsOf: file) == Data(body) && server.requests.last?.headers[.range] != nil)
        }

        @Test("a connection is made as it is wished")
        func connections() async throws {
            server.respond { _ in .init() }
            let port = try #require(URLComponents(string: server.url())?.port)
            let words = [
                "http://name.test:\(port)/", "--resolve", "name.test:\(port):127.0.0.1", "--connect-timeout", "120", "--http1.1",
            ]
            #expect(try await Invocation(Arguments(words + ["--standard", "--hedge"])).run() == 0)
            #expect(server.requests.last?.headers["Host"] == "name.test:\(port)")
        }
    #endif

    @Test("an archive is recorded without secrets and answers in the server's place")
    func archives() async throws {
        server.enqueue(.init(headers: [.contentType: "text/plain"], body: "recorded"))
        let path = folder.url.appendingPathComponent("calls.har").path
        #expect(try await run("--har", path, "--bearer", "S3CR3T") == 0)
        server.shutdown()
        #expect(try HARArchive(contentsOf: path).count == 1)
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("S3CR3T"))
        let output = folder.url.appendingPathComponent("out")
        #expect(try await run("--replay", path, "-o", output.path) == 0)
        #expect(try String(contentsOf: output, encoding: .utf8) == "recorded")
    }

    @Test("a replay ends as the first of its calls that fails", arguments: [[], ["--expect", "200"], ["--check-status"]])
    func replayedFailures(words: [String]) async throws {
        server.shutdown()
        let entries = [200, 500, 404, 200].map {
            #"{"request":{"method":"GET","url":"http://h/\#($0)"},"response":{"status":\#($0)}}"#
        }
        let file = try folder.file(Array(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8)).path
        let status = try await Replay(file: file, arguments: Arguments(["replay", file] + words)).run()
        #expect(status == (words == ["--check-status"] ? 5 : 1))
    }
}

@Suite("On a terminal", .leavesNothing)
struct OutputFormatTests {
    @Test("JSON is laid out as it is: order, digits and escapes stay")
    func layout() {
        var format = OutputFormat()
        format.color = false
        let text = #"{"b":[1.50,{}, []],"a\"":"é\u0041","n":12345678901234567890}"#
        #expect(
            format.laidOut(Array(text.utf8), contentType: "application/json") == """
                {
                  "b": [
                    1.50,
                    {},
                    []
                  ],
                  "a\\"": "é\\u0041",
                  "n": 12345678901234567890
                }
                """)
        #expect(format.laidOut(Array("{".utf8), contentType: "application/json") == nil)
        #expect(format.laidOut(Array("{}".utf8), contentType: "text/html") == nil)
    }

    @Test("JSON behind a byte order mark is laid out without it, and what isn't UTF-8 isn't")
    func encodings() {
        var format = OutputFormat()
        format.color = false
        let json = Array(#"{"a":1}"#.utf8)
        #expect(format.laidOut([0xEF, 0xBB, 0xBF] + json, contentType: "application/json") == "{\n  \"a\": 1\n}")
        #expect(format.laidOut([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + json, contentType: "application/json") == nil)
        #expect(format.laidOut([0xFF, 0xFE] + json.flatMap { [$0, 0] }, contentType: "application/json") == nil)
    }

    @Test("colours are escapes around names and values, and what a server sends stays text")
    func colors() {
        var format = OutputFormat()
        format.color = true
        let text = format.laidOut(Array(#"{"a":"b"}"#.utf8), contentType: "application/json")
        #expect(text == "{\n  \u{1B}[34m\"a\"\u{1B}[0m: \u{1B}[32m\"b\"\u{1B}[0m\n}")
        #expect(format.field("A", "\u{9B}2J") == "\u{1B}[34mA\u{1B}[0m: \\u{9B}2J")
    }

    @Test("control characters of a line are escaped, also of one that is JSON in UTF-16 by chance")
    func otherEncodings() {
        var format = OutputFormat()
        format.color = false
        let line = "[\0\"\0A\"\u{1B}[2J\"\0]\0"
        #expect(format.painted(line) == #"[\u{0}"\u{0}A"\u{1B}[2J"\u{0}]\u{0}"#)
    }
}
