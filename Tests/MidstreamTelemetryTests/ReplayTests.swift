import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTelemetry
import MidstreamTesting
import TestSupport
import Testing

@Suite("What was recorded", .leavesNothing, .timeLimit(.minutes(10)))
struct ReplayTests {
    /// Answers in many ways.
    private func server() -> StubTransport {
        let count = Locked(0)
        return StubTransport { request in
            let number = count.increment()
            if number % 17 == 0 { throw HTTPError(.connectionLost, "gone") }
            var body = HTTPBody.text("answer \(number) é")
            var headers: HTTPHeaders = [
                .contentType: "text/plain; charset=utf-8", "X-Number": "\(number)", "ETag": "\"\(number)\"",
            ]
            if number % 5 == 0 { (body, headers[.contentType]) = (.bytes([0, 255, UInt8(number % 250)]), "image/png") }
            if number % 7 == 0 { body = .empty }
            return HTTPResponse(
                status: HTTPStatus([200, 201, 404, 503][number % 4]), headers: headers, body: body, request: request,
                version: [.http1_0, .http1_1, .http2, .http3][number % 4])
        }
    }

    private func seen(_ client: HTTPClient) async -> [String] {
        var seen: [String] = []
        for number in 0..<200 {
            var request = HTTPRequest("http://h/\(number % 60)?token=\(number)&page=\(number % 3)")
            if number % 4 == 0 {
                request.method = .post
                request.body = .json(text: #"{"n":\#(number),"password":"\#(number)"}"#)
            }
            do {
                let response = try await client.send(request)
                let headers = response.headers.map { "\($0.name): \($0.value)" }.sorted()
                seen.append("\(response.status) \(response.version) \(headers) \(response.body.bytes ?? [])")
            } catch {
                seen.append("\((error as? HTTPError)?.code.rawValue ?? "?")")
            }
        }
        return seen
    }

    @Test("is played as it was, 200 exchanges")
    func equality() async throws {
        try await withFolder { folder in
            let path = "\(folder)/calls.har"
            let recorder = try HARRecorder(file: path)
            let recorded = await seen(
                testClient(configuration: .init(validators: [], observers: [recorder]), transport: server()))
            await recorder.flush()
            let archive = try HARArchive(contentsOf: path)
            #expect(archive.count == 200 && recorder.dropped == 0)
            for order in [ReplayTransport.Order.byRequest, .sequence] {
                let replay = ReplayTransport(archive, matching: [.method, .url, .body], order: order)
                #expect(await seen(testClient(configuration: .init(validators: []), transport: replay)) == recorded)
            }
        }
    }

    @Test("of a stream of events is played event by event")
    func events() async throws {
        let recording = RecordingTransport(
            StubTransport(
                status: .ok, headers: [.contentType: "text/event-stream"],
                body: .bytes(Array("data: {\"access_token\":\"S\"}\n\ndata: [DONE]\n\n".utf8))))
        _ = try await testClient(transport: recording).stream(HTTPRequest("http://h/")).body.collect()
        let response = try await testClient(transport: ReplayTransport(recording.archive)).stream(HTTPRequest("http://h/"))
        var data: [String] = []
        for try await event in response.body.events() { data.append(event.data) }
        #expect(data == [#"{"access_token":"‹withheld›"}"#, "[DONE]"])
    }

    @Test("says how long a body would be where there can be none")
    func bodiless() async throws {
        let kept = CallKeeper()
        let stub = StubTransport { request in
            HTTPResponse(
                status: request.urlText.hasSuffix("same") ? .notModified : .ok,
                headers: [.contentType: "text/plain", .contentLength: "5"],
                body: request.urlText.hasSuffix("get") ? .text("hello") : .empty, request: request)
        }
        let client = testClient(configuration: .init(validators: [], observers: [kept]), transport: stub)
        let requests = [HTTPRequest(.head, "http://h/"), HTTPRequest("http://h/same"), HTTPRequest("http://h/get")]
        for request in requests { _ = try await client.send(request) }
        let replay = testClient(configuration: .init(validators: []), transport: ReplayTransport(HARArchive(kept.exchanges)))
        var lengths: [String?] = []
        for request in requests { lengths.append(try await replay.send(request).headers[.contentLength]) }
        #expect(lengths == ["5", "5", nil])
    }

    @Test("has the fields that are true of the body that is played")
    func encodedBodies() async throws {
        // A browser has decoded it, and keeps the fields of what came.
        let fields = ["Content-Encoding": "gzip", "Content-Digest": "sha-256=:AA==:", "Repr-Digest": "sha-256=:AA==:", "X": "y"]
            .map { #"{"name":"\#($0)","value":"\#($1)"}"# }.joined(separator: ",")
        let entry =
            #"{"request":{"method":"GET","url":"http://h/"},"#
            + #""response":{"headers":[\#(fields)],"content":{"text":"A"},"status":200}}"#
        let others = try HARArchive(Data(#"{"log":{"entries":[\#(entry)]}}"#.utf8))
        let decoded = try await testClient(transport: ReplayTransport(others)).send(HTTPRequest("http://h/"))
        #expect(decoded.headers == ["X": "y"] && decoded.body.text == "A")
        // What Midstream's transports don't decode has its Content-Encoding.
        let plain: HTTPHeaders = [.contentType: "image/png"]
        var named = plain
        named["Content-Digest"] = "sha-256=:AA==:"
        var encoded = named
        encoded[.contentEncoding] = "br"
        for (headers, expected) in [(named, plain), (encoded, encoded)] {
            let recording = RecordingTransport(StubTransport(status: .ok, headers: headers, body: .bytes([0, 255])))
            _ = try await testClient(transport: recording).send(HTTPRequest("http://h/"))
            let own = try await testClient(transport: ReplayTransport(recording.archive)).send(HTTPRequest("http://h/"))
            #expect(own.headers == expected && own.body.bytes == [0, 255])
        }
    }

    @Test("is UTF-8 and says so where others have recorded text of another charset")
    func charsets() async throws {
        let type = #"{"name":"Content-Type","value":"text/plain; Charset=\"ISO-8859-1\"; a=b"}"#
        let entry =
            #"{"request":{"method":"GET","url":"http://h/"},"#
            + #""response":{"headers":[\#(type)],"content":{"text":"é"},"status":200}}"#
        let archive = try HARArchive(Data(#"{"log":{"entries":[\#(entry)]}}"#.utf8))
        let client = testClient(transport: ReplayTransport(archive))
        #expect(try await client.get("http://h/").string() == "é")
        let response = try await client.send(HTTPRequest("http://h/"))
        #expect(response.headers[.contentType] == "text/plain; charset=utf-8; a=b")
    }

    @Test("is given in its order for equal requests, the last one again")
    func repetition() async throws {
        let kept = CallKeeper()
        let count = Locked(0)
        let transport = StubTransport { request in
            let number = count.increment()
            return HTTPResponse(status: .ok, headers: [.contentType: "text/plain"], body: .text("\(number)"), request: request)
        }
        let client = testClient(configuration: .init(observers: [kept]), transport: transport)
        for _ in 0..<2 { _ = try await client.send(HTTPRequest("http://h/")) }
        let replay = testClient(transport: ReplayTransport(HARArchive(kept.exchanges)))
        var texts: [String?] = []
        for _ in 0..<3 { texts.append(try await replay.send(HTTPRequest("http://h/")).body.text) }
        #expect(texts == ["1", "2", "2"])
    }

    @Test("and wasn't asked for like that is an error that names the nearest without secrets, or is forwarded")
    func misses() async throws {
        let archive = HARArchive(
            try await exchanges([HTTPRequest("http://h/a?token=S3CR3T"), HTTPRequest("http://h/b")]))
        let client = testClient(transport: ReplayTransport(archive))
        let error = await httpError { try await client.send(HTTPRequest(.put, "http://h/a?token=OTHER")) }
        #expect(error?.code == .notRecorded && error?.phase == .notSent)
        let message = try #require(error?.message)
        #expect(message.contains("another method") && !message.contains("S3CR3T") && !message.contains("OTHER"))
        let stub = StubTransport(status: .accepted)
        let forwarding = testClient(transport: ReplayTransport(archive, miss: .forward(stub)))
        #expect(try await forwarding.send(HTTPRequest("http://h/c")).status == .accepted && stub.requests.count == 1)
        let sequence = testClient(transport: ReplayTransport(archive, order: .sequence))
        #expect(await httpError { try await sequence.send(HTTPRequest("http://h/b")) }?.code == .notRecorded)
    }

    @Test("is found by JSON whose fields come in another order, as an encoder of another process writes them")
    func orderOfFields() async throws {
        let request = { (json: String) in HTTPRequest(.post, "http://h/", body: .json(text: json)) }
        let recorded = try await exchanges([request(#"{"a":1,"password":"x","b":{"c":2,"d":[3,4]}}"#)])
        let client = testClient(
            transport: ReplayTransport(HARArchive(recorded), matching: [.method, .url, .body]))
        #expect(try await client.send(request(#"{"b":{"d":[3,4],"c":2},"password":"y","a":1}"#)).status == .ok)
        let other = request(#"{"a":1,"password":"x","b":{"c":2,"d":[4,3]}}"#)
        #expect(await httpError { try await client.send(other) }?.code == .notRecorded)
    }

    @Test("and wasn't asked for with that body goes elsewhere with all of it, also if it can be read only once")
    func missesWithBodies() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: .ok, body: .bytes(try await request.body.collect()), request: request)
        }
        for miss in [ReplayTransport.Miss.forward(stub), .record(stub)] {
            let replay = ReplayTransport(HARArchive([]), matching: [.method, .url, .body], miss: miss)
            let request = HTTPRequest(.post, "http://h/", body: .once(HTTPBody.text("once")))
            #expect(try await testClient(transport: replay).send(request).body.text == "once")
        }
    }

    @Test("grows by what is missing, which is saved with it", arguments: [ReplayTransport.Order.byRequest, .sequence])
    func growth(order: ReplayTransport.Order) async throws {
        let stub = StubTransport { request in
            if request.urlText.hasSuffix("/gone") { throw HTTPError(.connectionLost, "gone") }
            return HTTPResponse(
                status: .ok, headers: [.contentType: "text/plain"],
                body: .stream {
                    AsyncStream {
                        $0.yield([104]); $0.yield([105]); $0.finish()
                    }
                }, request: request)
        }
        let replay = ReplayTransport(HARArchive([]), matching: [.method, .url, .body], order: order, miss: .record(stub))
        let client = testClient(configuration: .init(validators: []), transport: replay)
        for path in ["a", "b?token=S3CR3T"] as [String] {
            #expect(try await client.send(HTTPRequest(.post, "http://h/" + path, body: .text("x"))).body.text == "hi")
        }
        #expect(await httpError { try await client.send(HTTPRequest("http://h/gone")) }?.code == .connectionLost)
        let data = try replay.archive.encoded()
        #expect(!String(decoding: data, as: UTF8.self).contains("S3CR3T") && stub.requests.count == 3)
        let again = testClient(
            configuration: .init(validators: []),
            transport: ReplayTransport(try HARArchive(data), matching: [.method, .url, .body], order: order))
        for path in ["a", "b?token=S3CR3T"] as [String] {
            #expect(try await again.send(HTTPRequest(.post, "http://h/" + path, body: .text("x"))).body.text == "hi")
        }
        #expect(await httpError { try await again.send(HTTPRequest("http://h/gone")) }?.code == .connectionLost)
    }

    @Test("isn't played while it is recorded: retries get other answers, and the same ones when it is")
    func recordedRetries() async throws {
        let stub = StubTransport(sequence: [.respond(503), .respond(.ok)])
        let replay = ReplayTransport(HARArchive([]), miss: .record(stub))
        let configuration = HTTPClient.Configuration(maxRetries: 1, random: { 0 })
        let client = testClient(configuration: configuration, transport: replay)
        #expect(try await client.send(HTTPRequest("http://h/")).status == .ok)
        let archive = try HARArchive(replay.archive.encoded())
        #expect(stub.requests.count == 2 && archive.count == 2)
        let again = testClient(configuration: configuration, transport: ReplayTransport(archive))
        for attempts in [2, 1] {
            let response = try await again.send(HTTPRequest("http://h/"))
            #expect(response.status == .ok && response.request.attempt == attempts)
        }
    }

    @Test("grows by what was measured as well, and hands trailers on")
    func measuredGrowth() async throws {
        var metrics = TransportMetrics()
        metrics.firstByte = .milliseconds(20)
        metrics.total = .milliseconds(50)
        metrics.remoteAddress = "192.0.2.1"
        let stub = StubTransport { [metrics] request in
            let chunks = Locked([Array("hi".utf8)])
            let body = HTTPBody.incoming(
                next: { chunks.withLock { $0.popLast() } }, trailers: { ["X-Sum": "1"] }, metrics: { metrics }, close: {})
            return HTTPResponse(status: .ok, body: body, request: request)
        }
        let replay = ReplayTransport(HARArchive([]), miss: .record(stub))
        let response = try await replay.send(HTTPRequest("http://h/"))
        #expect(response.body.bytes == Array("hi".utf8) && response.trailers?["X-Sum"] == "1" && response.metrics == metrics)
        let file = try JSONSerialization.jsonObject(with: replay.archive.encoded()) as? [String: Any]
        let entries = (file?["log"] as? [String: Any])?["entries"] as? [[String: Any]]
        let entry = try #require(entries?.first)
        #expect(entry["serverIPAddress"] as? String == "192.0.2.1")
        let timings = entry["timings"] as? [String: Any]
        #expect(timings?["wait"] as? Double == 20 && timings?["receive"] as? Double == 30)
    }

    @Test("comes when the request's body has been read")
    func reading() async throws {
        let archive = HARArchive(try await exchanges([HTTPRequest(.put, "http://h/")]))
        let body = HTTPBody.once(HTTPBody.text("a"))
        let client = testClient(transport: ReplayTransport(archive))
        #expect(try await client.send(HTTPRequest(.put, "http://h/", body: body)).status == .ok)
        #expect(body.isSpent)
    }

    @Test(
        "with a body that an archive doesn't hold is found by any",
        arguments: [("application/octet-stream", [[0, 255], [1, 254]]), ("text/plain", [[99, 233], [99, 232]])]
            as [(String, [[UInt8]])])
    func bodiesThatAreNotKept(type: String, bodies: [[UInt8]]) async throws {
        let stub = StubTransport(status: .ok)
        let replay = ReplayTransport(HARArchive([]), matching: [.method, .url, .body], miss: .record(stub))
        let client = testClient(transport: replay)
        let requests = bodies.map { HTTPRequest(.post, "http://h/", headers: [.contentType: type], body: .bytes($0)) }
        for request in requests { #expect(try await client.send(request).status == .ok) }
        #expect(stub.requests.count == 2)
        let archive = try HARArchive(replay.archive.encoded())
        let again = testClient(transport: ReplayTransport(archive, matching: [.method, .url, .body]))
        for request in requests { #expect(try await again.send(request).status == .ok) }
    }

    @Test(
        "for a body that an archive doesn't hold is played for one that it holds only where there is no other",
        arguments: [("", #","_midstream":{"isRequestCut":true}"#), (#","bodySize":1"#, "")])
    func bodiesThatAreKept(size: String, mark: String) async throws {
        let cut =
            #"{"request":{"method":"POST","url":"http://h/"\#(size)},"#
            + #""response":{"content":{"text":"A"},"status":200}\#(mark)}"#
        let kept =
            #"{"request":{"method":"POST","url":"http://h/","postData":{"mimeType":"text/plain","text":"b"}},"#
            + #""response":{"content":{"text":"B"},"status":200}}"#
        for entries in [[cut, kept], [kept, cut]] {
            let archive = try HARArchive(Data(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8))
            let client = testClient(transport: ReplayTransport(archive, matching: [.method, .url, .body]))
            for body in ["b", "b", "a", "a"] {
                let request = HTTPRequest(.post, "http://h/", headers: [.contentType: "text/plain"], body: .text(body))
                #expect(try await client.send(request).body.text == body.uppercased())
            }
        }
    }

    @Test("has each of several fields that a browser has written as lines of one")
    func joinedFields() async throws {
        let fields =
            #"[{"name":"Set-Cookie","value":"a=1\nb=2"},{"name":"set-cookie","value":"c=3\r\nd=4"},{"name":"X-Empty","value":""}]"#
        let response = #"{"status":200,"headers":\#(fields),"content":{"text":"A"}}"#
        let entry = #"{"request":{"method":"GET","url":"http://h/"},"response":\#(response)}"#
        let archive = try HARArchive(Data(#"{"log":{"entries":[\#(entry)]}}"#.utf8))
        let played = try await testClient(transport: ReplayTransport(archive)).send(HTTPRequest("http://h/"))
        #expect(played.headers.values("Set-Cookie") == ["a=1", "b=2", "c=3", "d=4"])
        #expect(played.headers["X-Empty"] == "" && played.headers.refused.isEmpty)
    }

    @Test(
        "is retried as it was, since what failed had come as far", arguments: [ReplayTransport.Order.byRequest, .sequence])
    func phases(order: ReplayTransport.Order) async throws {
        let kept = CallKeeper()
        let request = HTTPRequest(.post, "http://h/orders")
        let stub = StubTransport(sequence: [.fail(HTTPError(.connection, phase: .notSent)), .respond(.created)])
        let client = testClient(configuration: .init(maxRetries: 1, random: { 0 }, observers: [kept]), transport: stub)
        #expect(try await client.send(request).status == .created)
        let archive = try HARArchive(HARArchive(kept.exchanges).encoded())
        let replay = testClient(
            configuration: .init(maxRetries: 1, random: { 0 }), transport: ReplayTransport(archive, order: order))
        #expect(try await replay.send(request).status == .created)
    }

    @Test("by a transport that records can be saved and played")
    func recordingTransport() async throws {
        let recording = RecordingTransport(server())
        let recorded = await seen(testClient(configuration: .init(validators: []), transport: recording))
        let archive = try HARArchive(recording.archive.encoded())
        #expect(archive.count == 200)
        let replay = ReplayTransport(archive, matching: [.method, .url, .body], order: .sequence)
        #expect(await seen(testClient(configuration: .init(validators: []), transport: replay)) == recorded)
    }

    @Test("by a transport that records lacks what the client withholds, and is found without it")
    func namesOfTheClient() async throws {
        let redaction = Redaction(headers: ["X-Session"], queryItems: ["pin"], jsonFields: ["iban"])
        let recording = RecordingTransport(StubTransport.ok, redaction: redaction)
        let request = { (secret: String) in
            HTTPRequest(
                .post, "http://h/?pin=\(secret)", headers: ["X-Session": secret], body: .json(text: #"{"iban":"\#(secret)"}"#))
        }
        let client = testClient(configuration: .init(redaction: redaction), transport: recording)
        _ = try await client.send(request("S3CR3T"))
        let data = try recording.archive.encoded()
        #expect(!String(decoding: data, as: UTF8.self).contains("S3CR3T"))
        let replay = ReplayTransport(try HARArchive(data), matching: [.method, .url, .body], redaction: redaction)
        let again = testClient(configuration: .init(redaction: redaction), transport: replay)
        #expect(try await again.send(request("OTHER")).status == .ok)
    }

    /// Text of another charset, a character that is cut, a byte that no text has, and a byte order mark, which is a part of the body.
    @Test(
        "with bytes that aren't text has all of them or isn't there",
        arguments: [([99, 233], false), ([99, 195], false), ([99, 0], false), ([239, 187, 191, 99], true)]
            as [([UInt8], Bool)])
    func bytesThatAreNotText(bytes: [UInt8], isText: Bool) async throws {
        let kept = CallKeeper()
        let recording = RecordingTransport(
            StubTransport(status: .ok, headers: [.contentType: "text/plain"], body: .bytes(bytes)))
        let request = HTTPRequest(.put, "http://h/", headers: [.contentType: "text/plain"], body: .bytes(bytes))
        _ = try await testClient(configuration: .init(observers: [kept]), transport: recording).send(request)
        let archives = [(recording.archive, isText), (HARArchive(kept.exchanges, includesSecrets: true), true)]
        for (archive, isThere) in archives {
            let archive = try HARArchive(archive.encoded())
            #expect(archive.calls.map(\.isCut) == [!isThere])
            if isThere { #expect(archive.calls.first?.request.body.bytes == bytes) }
            let response = try await ReplayTransport(archive, matching: [.method, .url, .body]).send(request)
            if isThere {
                #expect(try await response.body.collect() == bytes)
            } else {
                #expect(await httpError { try await response.body.collect() }?.code == .notRecorded)
                #expect(String(decoding: try archive.encoded(), as: UTF8.self).contains(#""isCut":true"#))
            }
        }
    }

    @Test("finds a form of parts by its place alone, since its boundary is another one each time")
    func forms() async throws {
        let kept = CallKeeper()
        let client = testClient(configuration: .init(observers: [kept]), transport: StubTransport(status: .created))
        func form() -> HTTPRequest { HTTPRequest(.post, "http://h/", body: .multipart([.field("a", "b")])) }
        _ = try await client.send(form())
        let archive = try HARArchive(HARArchive(kept.exchanges, includesSecrets: true).encoded())
        let replay = ReplayTransport(archive, matching: [.method, .url, .body])
        #expect(try await replay.send(form()).status == .created)
    }

    @Test("without the whole of a body isn't played as if it were whole")
    func cutBodies() async throws {
        try await withFolder { folder in
            let recorder = try HARRecorder(file: "\(folder)/a.har", bodies: 3)
            let client = testClient(
                configuration: .init(observers: [recorder]),
                transport: StubTransport { request in
                    HTTPResponse(status: .ok, headers: [.contentType: "text/plain"], body: .text("four"), request: request)
                })
            _ = try await client.send(HTTPRequest("http://h/"))
            await recorder.flush()
            let replay = testClient(transport: ReplayTransport(try HARArchive(contentsOf: "\(folder)/a.har")))
            #expect(await httpError { try await replay.send(HTTPRequest("http://h/")) }?.code == .notRecorded)
        }
    }

    @Test("breaks off where it broke off and where a reader left it, behind a redirect whose body nobody read")
    func brokenBodies() async throws {
        for (way, code) in [("failed", .connectionLost), ("closed", .notRecorded), ("released", .notRecorded)]
            as [(String, HTTPError.Code)]
        {
            try await withFolder { folder in
                let recorder = try HARRecorder(file: "\(folder)/a.har")
                let transport = StubTransport { request in
                    let isFirst = request.urlText.hasSuffix("/old")
                    let body = ArrivingBody(
                        [Array("hel".utf8)], thenThrowing: way == "failed" ? HTTPError(.connectionLost, "gone") : nil)
                    return HTTPResponse(
                        status: isFirst ? .found : .ok,
                        headers: isFirst ? [.contentType: "text/plain", .location: "/new"] : [.contentType: "text/plain"],
                        body: .incoming(body), request: request)
                }
                try await read(way, by: testClient(configuration: .init(observers: [recorder]), transport: transport))
                await recorder.flush()
                let archive = try HARArchive(contentsOf: "\(folder)/a.har")
                #expect(archive.count == 2)
                let replay = testClient(transport: ReplayTransport(archive))
                let response = try await replay.stream(HTTPRequest("http://h/old"))
                var chunks = response.body.makeAsyncIterator()
                #expect(try await chunks.next() == Array("hel".utf8))
                #expect(response.status == .ok)
                let again = try await replay.stream(HTTPRequest("http://h/old"))
                #expect(await httpError { try await again.body.collect() }?.code == code, "\(way)")
            }
        }
    }

    /// Reads the beginning of a body, and whether it fails or is closed or let go of behind that.
    private func read(_ way: String, by client: HTTPClient) async throws {
        let response = try await client.stream(HTTPRequest("http://h/old"))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Array("hel".utf8))
        if way == "failed" { _ = try? await chunks.next() }
        if way == "closed" { response.body.close() }
    }

    @Test("by a transport that records before a body has come isn't played as if that were empty")
    func recordedOnArrival() async throws {
        let recording = RecordingTransport(
            StubTransport { HTTPResponse(status: .ok, body: .incoming(ArrivingBody()), request: $0) })
        #expect(try await recording.send(HTTPRequest("http://h/")).body.collect() == Array("hello".utf8))
        let response = try await ReplayTransport(recording.archive).send(HTTPRequest("http://h/"))
        #expect(await httpError { try await response.body.collect() }?.code == .notRecorded && response.status == .ok)
    }

    @Test("in a capsule of an error is told with what the client is and would do")
    func account() async throws {
        let client = testClient(
            configuration: .init(headers: ["X-Api-Key": "S3CR3T"], maxRetries: 0, keepsCapsules: true),
            transport: StubTransport(status: .notFound)
        ) { AuthenticationInterceptor(BearerAuthenticator(token: "S3CR3T"), origins: ["http://h"]) }
        let error = await httpError { try await client.send(HTTPRequest("http://h/?token=S3CR3T")) }
        let capsule = await error?.capsule()
        let data = try #require(try capsule?.encoded())
        #expect(!String(decoding: data, as: UTF8.self).contains("S3CR3T"))
        let account = try #require(try HARArchive(data).account)
        #expect(account.failure.contains("404") && account.trace?.contains("→ 404") == true)
        #expect(account.settings?.contains("maxRetries: 0") == true)
        #expect(account.explanation?.contains("AuthenticationInterceptor") == true)
        // A capsule that was cut off is an archive without it.
        #expect(try HARArchive(data.dropLast(3)).count == 1)
    }

    @Test("in a capsule of an error can be played, and isn't there unless it is wanted")
    func capsule() async throws {
        let stub = StubTransport(sequence: [
            .respond(503, headers: [.contentType: "text/plain"], body: .text("busy")),
            .respond(.notFound, headers: [.contentType: "text/plain"], body: .text("none")),
        ])
        let client = testClient(configuration: .init(maxRetries: 1, random: { 0 }, keepsCapsules: true), transport: stub)
        let error = await httpError { try await client.send(HTTPRequest("http://h/?token=S3CR3T")) }
        let made = await error?.capsule()
        let capsule = try #require(made)
        let text = String(decoding: try capsule.encoded(), as: UTF8.self)
        #expect(capsule.count == 2 && !text.contains("S3CR3T"))
        let replay = testClient(
            configuration: .init(maxRetries: 1, random: { 0 }), transport: ReplayTransport(capsule, order: .sequence))
        let again = await httpError { try await replay.send(HTTPRequest("http://h/?token=other")) }
        #expect(again?.code == error?.code && again?.response?.body.text == "none")
        let plain = testClient(transport: StubTransport(status: .notFound))
        #expect(await httpError { try await plain.send(HTTPRequest("http://h/")) }?.capsule() == nil)
    }
}
