import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamStreams

@Suite("Parts of a multipart response (RFC 2046 §5.1)", .leavesNothing, .timeLimit(.minutes(10)))
struct ResponsePartsTests {
    private static let body = [
        "preamble, which may hold --b in a line", "--b", "Content-Type: text/plain", "X-A: 1", "X-A: 2", "", "one", "--b  \t", "",
        "",
        "--b", "X-Folded: a", " b", "", "--bb", "-- b", "x--b--", "--b-", "--b x", "", "--b", "", "--b--", "--b", "", "epilogue",
    ].joined(separator: "\r\n")

    private struct Seen: Equatable {
        var fields: [String]
        var text: String
    }

    private func response(_ body: HTTPBody, type: String? = "multipart/mixed; boundary=b") -> HTTPResponse {
        HTTPResponse(
            status: .ok, headers: type.map { ["Content-Type": $0] } ?? [:], body: body, request: HTTPRequest("http://h/"))
    }

    private func read(_ body: HTTPBody, type: String? = "multipart/mixed; boundary=b") async throws -> [Seen] {
        var seen: [Seen] = []
        for try await part in response(body, type: type).parts() {
            let text = String(decoding: try await part.body.collect(), as: UTF8.self)
            seen.append(Seen(fields: part.headers.map { "\($0.name): \($0.value)" }, text: text))
        }
        return seen
    }

    private static let expected = [
        Seen(fields: ["Content-Type: text/plain", "X-A: 1", "X-A: 2"], text: "one"),
        Seen(fields: [], text: ""),
        Seen(fields: ["X-Folded: a b"], text: "--bb\r\n-- b\r\nx--b--\r\n--b-\r\n--b x\r\n"),
        Seen(fields: [], text: ""),
    ]

    @Test("The same parts, wherever the body is cut")
    func cuts() async throws {
        let bytes = Array(Self.body.utf8)
        for cut in 0...bytes.count {
            #expect(try await read(Pieces(bytes, cutAt: cut).body) == Self.expected, "cut at \(cut)")
        }
        for size in 1...20 { #expect(try await read(Pieces(bytes, of: size).body) == Self.expected, "pieces of \(size)") }
        #expect(try await read(.bytes(bytes)) == Self.expected)
    }

    @Test("A body that has been begun isn't read on")
    func begun() async throws {
        let body = HTTPBody.incoming(ArrivingBody([Array(Self.body.utf8), Array(Self.body.utf8)]))
        for try await _ in body { break }
        #expect(await httpError { try await read(body) }?.code == .bodyNotReplayable)
    }

    @Test("Parts are passed over by asking for the next, wherever the body is cut")
    func passingOver() async throws {
        for size in [1, 2, 3, 50, 1_000] {
            let parts = ResponseParts(response(Pieces(Array(Self.body.utf8), of: size).body))
            var fields: [Int] = []
            while let part = try await parts.next() { fields.append(part.headers.count) }
            #expect(fields == [3, 0, 1, 0])
        }
    }

    @Test(
        "Where the boundary stands",
        arguments: [
            ("multipart/mixed; boundary=b", "b"), ("Multipart/Form-Data;charset=x; BOUNDARY=\"b c\"", "b c"),
            ("multipart/byteranges; boundary=\"a:b/c?d=e\"", "a:b/c?d=e"), ("multipart/x; boundary=\"\\b\"", "b"),
            ("multipart/mixed; boundary=a-E=_A/4:Q=; charset=x", "a-E=_A/4:Q="),
        ])
    func boundary(type: String, boundary: String) async throws {
        #expect(try await read(.text("--\(boundary)\r\n\r\nx\r\n--\(boundary)--"), type: type) == [Seen(fields: [], text: "x")])
    }

    @Test(
        "A boundary that begins with hyphens, which are those of its lines, as a camera's, or not",
        arguments: ["--b", "----b"], ["\r\n", "\n"])
    func hyphens(line: String, lineEnd: String) async throws {
        let other = line == "--b" ? "----b" : "--b"
        let lines = ["welcome", "---b", line, "X: 1", "", other, line, "", "", "\(line)--"]
        for size in [1, 2, 3, 1_000] {
            let body = Pieces(Array(lines.joined(separator: lineEnd).utf8), of: size).body
            let parts = try await read(body, type: "multipart/x-mixed-replace; boundary=--b")
            #expect(parts == [Seen(fields: ["X: 1"], text: other), Seen(fields: [], text: "")], "pieces of \(size)")
        }
    }

    @Test("The first boundary's line end is that of all", arguments: [("\r\n", "\n"), ("\n", "\r\n")])
    func lineEnds(own: String, other: String) async throws {
        let content = "x\(other)--b\(other)y"
        let text = ["--b", "", content, "--b--", ""].joined(separator: own)
        for size in [1, 2, 3, 1_000] {
            #expect(try await read(Pieces(Array(text.utf8), of: size).body) == [Seen(fields: [], text: content)])
        }
    }

    @Test(
        "Without a boundary, or another type",
        arguments: [
            (nil, .decoding), ("text/html", .decoding), ("multipart", .decoding), ("multipart/mixed", .protocolViolation),
            ("multipart/mixed; boundary=", .protocolViolation), ("multipart/mixed; boundary=\"a b \"", .protocolViolation),
            ("multipart/mixed; boundary=\"\u{FC}\"", .protocolViolation),
            ("multipart/mixed; boundary=\(String(repeating: "x", count: 71))", .protocolViolation),
        ] as [(String?, HTTPError.Code)])
    func noBoundary(type: String?, code: HTTPError.Code) async throws {
        let body = ArrivingBody()
        let parts = ResponseParts(response(.incoming(body), type: type))
        #expect(await httpError { try await parts.next() }?.code == code)
        #expect(body.closings > 0)
        #expect(try await parts.next() == nil)
    }

    @Test(
        "A body without its last boundary is cut",
        arguments: ["", "--b", "--b\r\nX: 1", "--b\r\n\r\nx\r\n--b", "--b\r\n\r\nx\r\n--b-", "x"])
    func missingEnd(text: String) async throws {
        for size in [1, 100] {
            let error = await httpError { try await read(Pieces(Array(text.utf8), of: size).body) }
            #expect(error?.code == .connectionLost)
        }
    }

    @Test("A part that was read isn't empty for the next reader")
    func again() async throws {
        let parts = ResponseParts(response(.text("--b\r\n\r\nx\r\n--b--")))
        let part = try #require(try await parts.next())
        #expect(try await part.body.collect() == Array("x".utf8))
        #expect(await httpError { try await part.body.collect() }?.code == .bodyNotReplayable)
        #expect(try await parts.next() == nil)
    }

    @Test("What is missing of a part doesn't look like its end")
    func cutPart() async throws {
        let parts = ResponseParts(response(.text("--b\r\n\r\nx")))
        let part = try #require(try await parts.next())
        for _ in 1...2 { #expect(await httpError { try await part.body.collect() }?.code == .connectionLost) }
        #expect(try await parts.next() == nil)
        let others = ResponseParts(response(.text("--b\r\n\r\nx")))
        let other = try #require(try await others.next())
        #expect(await httpError { try await others.next() }?.code == .connectionLost)
        #expect(await httpError { try await other.body.collect() }?.code == .connectionLost)
    }

    @Test("A last boundary at the very end needs no line end")
    func shortEnd() async throws {
        for end in ["", "\r", "\r\n", " \t", "\r\nmore"] {
            for size in [1, 100] {
                let parts = try await read(Pieces(Array("--b\r\n\r\nx\r\n--b--\(end)".utf8), of: size).body)
                #expect(parts.map(\.text) == ["x"])
            }
        }
        #expect(try await read(.text("--b--")).isEmpty)
    }

    @Test("The head of a part is bounded, and how many there are isn't")
    func bounds() async throws {
        func code(_ text: String) async -> HTTPError.Code? { await httpError { try await read(.text(text)) }?.code }
        let field = "X: \(String(repeating: "x", count: 1_019))\r\n"
        let full = String(repeating: field, count: 16).dropLast(4) + "\r\n"
        #expect(try await read(.text("--b\r\n\(full)\r\n\r\n--b--")).count == 1)
        #expect(await code("--b\r\nY: 1\r\n\(full)\r\n\r\n--b--") == .protocolViolation)
        #expect(await code("--b\r\n" + String(repeating: "x", count: 20_000)) == .protocolViolation)
        let part = "\r\n--b\r\n\r\n"
        #expect(try await read(.text(String(repeating: part, count: 10_000) + "\r\n--b--")).count == 10_000)
        for line in ["nonsense", ": x", "a b: c", "\u{FC}: 1"] {
            #expect(await code("--b\r\n\(line)\r\n\r\n\r\n--b--") == .protocolViolation)
        }
        // A line that holds more space than any boundary is content, and isn't kept.
        let spaces = "--b" + String(repeating: " ", count: 300)
        #expect(try await read(Pieces(Array("--b\r\n\r\n\(spaces)\r\n--b--".utf8), of: 7).body).map(\.text) == [spaces])
    }

    @Test("Part bodies: read once, closed, passed over")
    func partBodies() async throws {
        let parts = ResponseParts(response(.text("--b\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--")))
        let first = try #require(try await parts.next())
        first.body.close()
        #expect(await httpError { try await first.body.collect() }?.code == .connectionLost)
        let second = try #require(try await parts.next())
        var iterator = first.body.makeAsyncIterator()
        #expect(await httpError { try await iterator.next() } != nil)
        #expect(try await second.body.collect() == Array("y".utf8))
        #expect(try await parts.next() == nil)
    }

    @Test("A body that ends with its last boundary, from a server", arguments: ["", "\r\n", "\r\nepilogue"])
    func fromAServer(end: String) async throws {
        let server = try MockServer()
        let client = testClient(baseURL: server.url())
        let body = Array("--b\r\n\r\nx\r\n--b--\(end)".utf8)
        for content: HTTPBody in [.bytes(body), .chunked([body]), .chunked(body.map { [$0] })] {
            server.enqueue(.init(headers: [.contentType: "multipart/mixed; boundary=b"], body: content))
            var texts: [String] = []
            for try await part in try await client.stream(HTTPRequest("/")).parts() {
                texts.append(String(decoding: try await part.body.collect(), as: UTF8.self))
            }
            #expect(texts == ["x"])
        }
        // The connection has served them all.
        #expect(server.connectionCount == 1)
    }

    @Test("The last part ends where its boundary stands, however long the body goes on")
    func lastPart() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield(Array("--b\r\n\r\nx\r\n--b--\r\n".utf8))
        let parts = ResponseParts(response(.once(stream)))
        let part = try #require(try await parts.next())
        #expect(try await part.body.collect() == Array("x".utf8))
        continuation.finish()
        #expect(try await parts.next() == nil)
        #expect(try await parts.next() == nil)
    }

    @Test("A part that is JSON ends where a boundary begins, whose line comes with the next part")
    func earlyBoundary() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let head = "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n"
        continuation.yield(Array("\r\n--b\(head){}\r\n--b".utf8))
        let parts = ResponseParts(response(.once(stream)))
        #expect(try await #require(try await parts.next()).body.collect() == Array("{}".utf8))
        for text in ["\r", "\nContent-Type: application/json\r\n\r\n[]\r\n--", "b--"] { continuation.yield(Array(text.utf8)) }
        let second = try #require(try await parts.next())
        continuation.finish()
        #expect(try await second.body.collect() == Array("[]".utf8))
        #expect(try await parts.next() == nil)
    }

    @Test("An error behind the last boundary is one: a digest that doesn't match, say")
    func errorInTheEpilogue() async throws {
        let body = HTTPBody.once(chunks("--b\r\n\r\nx\r\n--b--")).checked {
            BodyCheck(onChunk: { _ in }, atEnd: { _ in throw HTTPError(.digestMismatch) })
        }
        #expect(await httpError { try await read(body) }?.code == .digestMismatch)
    }

    @Test("An endless epilogue isn't read")
    func epilogue() async throws {
        let body = ArrivingBody([Array("--b--\r\n".utf8)] + Array(repeating: [UInt8](repeating: 0, count: 10_000), count: 100))
        #expect(try await ResponseParts(response(.incoming(body))).next() == nil)
        #expect(body.closings > 0)
    }

    @Test("Nobody reads while another does")
    func concurrently() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let parts = ResponseParts(response(.once(stream)))
        let first = Task { try await parts.next() }
        var error: HTTPError?
        // Until the first one waits, the second may do so.
        continuation.yield(Array("--b\r\n\r\n".utf8))
        let part = try #require(try await first.value)
        let reading = Task { try await part.body.collect() }
        let others = Task { try await parts.next() }
        continuation.yield(Array("x\r\n--b--".utf8))
        continuation.finish()
        let results = (await reading.result, await others.result)
        for result in [results.0.map { _ in () }, results.1.map { _ in () }] {
            if case .failure(let failure as HTTPError) = result { error = failure }
        }
        #expect(error == nil || error?.code == .bodyNotReplayable)
    }
}
