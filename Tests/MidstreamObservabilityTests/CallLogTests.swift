import Foundation
import Interception
import MidstreamCore
import MidstreamObservability
import MidstreamTesting
import TestSupport
import Testing

@Suite("A log of calls", .leavesNothing)
struct CallLogTests {
    private let lines = Locked<[String]>([])

    private func client(
        _ detail: CallLog.Detail, _ format: CallLog.Format = .text, redaction: Redaction? = nil,
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> HTTPClient {
        testClient(
            configuration: .init(
                clock: TestClock(), now: { Date(timeIntervalSince1970: 1_800_000_000.25) },
                observers: [.log(detail, as: format, redaction: redaction) { [lines] line in lines.withLock { $0.append(line) } }]
            ),
            transport: StubTransport(respond))
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        var metrics = TransportMetrics()
        metrics.localPort = 4_711
        metrics.responseBodyBytes = 22
        return HTTPResponse(
            status: 201, headers: [.contentType: "application/json", "Set-Cookie": "S3CR3T", "X-Evil": "a\u{9B}b"],
            body: .text("{\"password\":\"S3CR3T\"}\nx"), request: request, metrics: metrics)
    }

    private var request: HTTPRequest {
        HTTPRequest(
            .post, "http://u:S3CR3T@h/a?token=S3CR3T", headers: [.authorization: "S3CR3T", "X-Mine": "S3CR3T"],
            body: .form([("client_secret", "S3CR3T"), ("a", "b")]))
    }

    @Test("is a line for each call")
    func line() async throws {
        _ = try await client(.line, .text, redaction: nil, answer).send(request)
        _ = try? await client(.line) { _ in throw HTTPError(.connection, "refused") }.send(request)
        #expect(
            lines.withLock { $0 } == [
                "POST http://h/a?token=‹withheld› → 201 Created, 0.0 ms",
                "POST http://h/a?token=‹withheld› ✗ connection: refused, 0.0 ms",
            ])
    }

    @Test("lays out bodies by line ends of either kind")
    func lineEnds() async throws {
        let log = client(.bodies(upTo: 100)) { request in
            HTTPResponse(
                status: .ok, headers: [.contentType: "text/plain"], body: .text("one\r\ntwo\nthree"), request: request)
        }
        _ = try await log.send(HTTPRequest("http://h/"))
        #expect(lines.withLock { $0[0] }.hasSuffix("<   one\n<   two\n<   three"))
    }

    @Test(
        "withholds what its own redaction names in the words of a failure as well", arguments: [CallLog.Format.text, .json],
        ["h", "[::1]", "[::1]:8080", "h/it's"])
    func failures(format: CallLog.Format, place: String) async throws {
        let log = client(.heads, format, redaction: Redaction(queryItems: ["session"])) { request in
            HTTPResponse(status: .found, headers: [.location: "http://\(place)/loop?session=S3CR3T&page=7"], request: request)
        }
        _ = try? await log.send(HTTPRequest("http://h/"))
        let lost = client(.heads, format, redaction: Redaction(queryItems: ["session"])) { _ in
            throw HTTPError(.connection, "There is no way to http://\(place)/lost?name=O'Brien&session=S3CR3T&page=7.")
        }
        _ = try? await lost.send(HTTPRequest("http://h/"))
        let written = lines.withLock { $0 }
        #expect(!written.contains { $0.contains("S3CR3T") })
        #expect(written.count { $0.contains("\(place)/lost?name=O'Brien&session=‹withheld›&page=7") } == 2)
        #expect(written.contains { $0.contains("tooManyRedirects") && $0.contains("\(place)/loop?session=‹withheld›&page=7.") })
    }

    @Test("has no lines that a URL or a method has made up, which nobody would send")
    func forged() async throws {
        let evil = "\nforged \u{1B}[2J"
        for request in [
            HTTPRequest(RequestURL("http://h/\(evil)" as String)), HTTPRequest(HTTPMethod(rawValue: "GET\(evil)"), "http://h/"),
        ] {
            let error = await httpError { try await client(.line) { answer($0) }.send(request) }
            #expect(error?.code == .invalidRequest)
            let record = try #require(error?.callRecord)
            for text in ["\(request)", "\(record)", lines.withLock { $0.last } ?? ""] {
                #expect(text.contains("\\u{A}forged \\u{1B}[2J"))
                #expect(!text.contains("\n") && !text.contains("\u{1B}"))
            }
        }
        #expect(lines.withLock { $0.count } == 2)
    }

    @Test("shows heads and bodies without secrets, and what a server sends stays apart from the log")
    func bodies() async throws {
        let client = client(.bodies(upTo: 22), redaction: Redaction(headers: ["X-Mine"])) { request in answer(request) }
        _ = try await client.send(request)
        let text = lines.withLock { $0 }[0].replacing(/\([0-9a-f]{32}/, with: "(ID")
        #expect(
            text == """
                → POST http://h/a?token=‹withheld› (ID, exchange 1, first)
                > Authorization: ‹withheld›
                > X-Mine: ‹withheld›
                > User-Agent: Midstream
                > Content-Type: application/x-www-form-urlencoded
                >   client_secret=‹withheld›&a
                > [22 of 24 bytes]
                ← 201 Created HTTP/1.1, 0.0 ms, connection 4711
                < Content-Type: application/json
                < Set-Cookie: ‹withheld›
                < X-Evil: a\\u{9B}b
                <   {"password":"‹withheld›"}
                <   
                < [22 of 23 bytes]
                """)
    }

    @Test("in JSON has the names that are promised, one object in a line")
    func json() async throws {
        let client = client(.bodies(upTo: 1_000), .json) { request in answer(request) }
        var request = request
        request.route = "http://h/a?token=S3CR3T"
        request.headers["traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        request.headers["X-Mine"] = "\u{2028}\"\\\u{1}é"
        _ = try await client.send(request)
        let written = lines.withLock { $0 }
        #expect(written.count == 2 && !written.contains { $0.contains("S3CR3T") || $0.contains("\n") || $0.contains("\u{2028}") })
        let objects = try written.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        #expect(
            Set(objects[0].keys) == [
                "ts", "call", "exchange", "cause", "attempt", "method", "url", "route", "status", "ms", "bytes", "conn",
                "traceId",
                "requestHeaders", "requestBody", "responseHeaders", "responseBody",
            ])
        #expect(objects[0]["ts"] as? String == "2027-01-15T08:00:00.250Z")
        #expect(objects[0]["traceId"] as? String == "0af7651916cd43dd8448eb211c80319c" && objects[0]["bytes"] as? Int == 22)
        #expect((objects[0]["responseBody"] as? [String: Any])?["size"] as? Int == 23)
        #expect(Set(objects[1].keys).isSuperset(of: ["ts", "call", "request", "exchanges", "traceId", "route", "status", "ms"]))
        #expect(objects[1]["call"] as? String == objects[0]["call"] as? String && objects[1]["exchange"] == nil)
        #expect(objects[1]["request"] as? String == request.id.uuidString && objects[1]["ms"] as? Double == 0)
    }

    @Test("tells the cause and the error of each exchange, and its cache's answer")
    func causes() async throws {
        let client = client(.heads, .json) { request in
            guard request.attempt > 1 else { throw HTTPError(.connection, "refused", phase: .notSent) }
            return HTTPResponse(status: .ok, request: request)
        }
        var request = HTTPRequest("http://h/")
        request.maxRetries = 1
        await #expect(throws: Never.self) {
            try await testClient(
                configuration: .init(random: { 0 }, observers: client.configuration.observers), transport: client.transport
            ) {
                ClosureRequestInterceptor { request in
                    request.record(CallEvent("cache.outcome", "asked", ["hit": false, "forward": "stale"]))
                }
            }.send(request)
        }
        let objects = try lines.withLock { $0 }.map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["cause"] as? String } == ["first", "retry", nil])
        #expect(objects.map { $0["error"] as? String } == ["connection", nil, nil])
        #expect(objects.map { $0["cache"] as? String } == [nil, nil, "stale"] && objects[2]["exchanges"] as? Int == 2)
    }

    @Test("waits for the body of a stream, which arrives byte for byte as it was sent, one chunk at a time")
    func streams() async throws {
        let body = ArrivingBody([Array("one".utf8), Array("two".utf8)])
        let client = client(.bodies(upTo: 4)) { request in
            HTTPResponse(status: .ok, headers: [.contentType: "text/plain"], body: .incoming(body), request: request)
        }
        let response = try await client.stream(HTTPRequest("http://h/"))
        #expect(lines.withLock { $0.count } == 1)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Array("one".utf8))
        #expect(!body.isSpent || lines.withLock { $0.count } == 1)
        #expect(try await chunks.next() == Array("two".utf8))
        #expect(try await chunks.next() == nil)
        #expect(lines.withLock { $0.last }?.contains("<   onet\n< [4 of 6 bytes]") == true)
    }

    @Test("of binary data tells the size", arguments: ["image/png", "multipart/form-data; boundary=b", nil])
    func sizes(type: String?) async throws {
        let client = client(.bodies(upTo: 100)) { request in
            HTTPResponse(
                status: .ok, headers: type.map { [.contentType: $0] } ?? [:], body: .bytes([0x61, 0x62]), request: request)
        }
        _ = try await client.send(HTTPRequest("http://h/"))
        #expect(lines.withLock { $0[0] }.hasSuffix("< [2 bytes]"))
    }

    @Test("in JSON tells no bytes where the transport has measured none")
    func unmeasured() async throws {
        let client = client(.bodies(upTo: 100), .json) { HTTPResponse(status: .ok, body: .text("x"), request: $0) }
        _ = try await client.send(HTTPRequest("http://h/"))
        let line = lines.withLock { $0[0] }
        #expect(line.contains("\"size\":1") && !line.contains("\"bytes\""))
    }

    @Test("and the traceparent that is sent have one identifier")
    func traceIDs() async throws {
        let kept = Locked<[HTTPRequest]>([])
        let client = testClient(
            configuration: .init(observers: [.log(.line, as: .json) { [lines] line in lines.withLock { $0.append(line) } }]),
            transport: StubTransport { request in
                kept.withLock { $0.append(request) }
                return HTTPResponse(status: .ok, request: request)
            }
        ) { .traceparent }
        let request = HTTPRequest("http://h/")
        for _ in 0..<2 { _ = try await client.send(request) }
        let ids = kept.withLock { $0 }.compactMap { TraceParent($0.headers["traceparent"])?.traceID }
        #expect(Set(ids).count == 2)
        for (line, id) in zip(lines.withLock { $0 }, ids) {
            #expect(line.contains("\"call\":\"\(id)\"") && line.contains("\"traceId\":\"\(id)\""))
        }
    }
}
