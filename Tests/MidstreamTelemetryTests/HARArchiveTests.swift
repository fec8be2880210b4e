import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTelemetry

/// Calls with the path of a folder that goes afterwards.
func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await body(folder.url.path)
    withExtendedLifetime(folder) {}
}

/// The exchanges of requests to a server that answers with what it is asked.
func exchanges(_ requests: [HTTPRequest], metrics: TransportMetrics? = nil) async throws -> [ExchangeRecord] {
    let kept = CallKeeper()
    let transport = StubTransport { request in
        if request.urlText.contains("fail") { throw HTTPError(.connection, "refused", phase: .notSent) }
        let body = try await request.body.collect()
        var headers: HTTPHeaders = ["Set-Cookie": "S3CR3T", .contentType: request.headers[.contentType] ?? "text/plain"]
        headers[.location] = request.headers[.location]
        return HTTPResponse(
            status: 200, headers: headers, body: .bytes(body.isEmpty ? Array("no body at \(request.urlText)".utf8) : body),
            request: request, version: .http2, metrics: metrics)
    }
    let client = testClient(configuration: .init(observers: [kept]), transport: transport)
    for request in requests { _ = try? await client.send(request) }
    return kept.exchanges
}

@Suite("An archive", .leavesNothing)
struct HARArchiveTests {
    private static func json(_ archive: HARArchive) throws -> [String: Any] {
        let object = try #require(JSONSerialization.jsonObject(with: archive.encoded()) as? [String: Any])
        return try #require(object["log"] as? [String: Any])
    }

    @Test("has the fields that browsers' tools and proxies insist on")
    func fields() async throws {
        let archive = HARArchive(
            try await exchanges([
                HTTPRequest("http://h/a?x=1&y=a+b"), HTTPRequest(.post, "http://h/b", body: .json(text: "{}")),
                HTTPRequest("http://h/fail"),
            ]))
        let log = try Self.json(archive)
        #expect(log["version"] as? String == "1.2" && log["creator"] != nil)
        let entries = try #require(log["entries"] as? [[String: Any]])
        #expect(entries.count == 3)
        for entry in entries {
            let date = try #require(entry["startedDateTime"] as? String)
            #expect(date.hasSuffix("Z") && date.contains("."))
            for path in [
                "time", "request.headersSize", "request.bodySize", "response.headersSize", "response.bodySize", "response.status",
                "response.content.size", "timings.send", "timings.wait", "timings.receive", "timings.blocked", "timings.dns",
                "timings.connect", "timings.ssl",
            ] {
                let value = path.split(separator: ".").reduce(entry as Any?) { ($0 as? [String: Any])?[String($1)] }
                #expect(value is NSNumber, "\(path)")
            }
            for path in ["request.headers", "request.cookies", "request.queryString", "response.headers", "response.cookies"] {
                let value = path.split(separator: ".").reduce(entry as Any?) { ($0 as? [String: Any])?[String($1)] }
                #expect(value is [Any], "\(path)")
            }
            for path in [
                "request.method", "request.url", "request.httpVersion", "response.httpVersion", "response.statusText",
                "response.redirectURL", "response.content.mimeType",
            ] {
                let value = path.split(separator: ".").reduce(entry as Any?) { ($0 as? [String: Any])?[String($1)] }
                #expect(value is String, "\(path)")
            }
            #expect(entry["_initiator"] == nil && entry["cache"] is [String: Any])
        }
        let post = try #require((entries[1]["request"] as? [String: Any])?["postData"] as? [String: Any])
        #expect(post["text"] as? String == "{}" && post["mimeType"] as? String == "application/json")
        let failed = try #require(entries[2]["response"] as? [String: Any])
        #expect(failed["status"] as? Int == 0 && (failed["_error"] as? String)?.contains("refused") == true)
        #expect((entries[0]["response"] as? [String: Any])?["httpVersion"] as? String == "http/2.0")
        #expect(archive.entries[0].request.queryString.map(\.value) == ["1", "a b"])
    }

    @Test("tells how long a body was on the wire where the transport has measured that, and how long it is once decoded")
    func sizes() async throws {
        var metrics = TransportMetrics()
        for (measured, size) in [(nil, -1), (9, 9)] as [(Int64?, Double)] {
            metrics.responseBodyBytes = measured
            let response = try await HARArchive(exchanges([HTTPRequest("http://h/")], metrics: metrics)).entries[0].response
            #expect(response.bodySize == size && response.content.size == 20)
        }
    }

    @Test("tells times as the format wants them: ssl inside connect, queues blocked, -1 for a kept one, time the sum but ssl")
    func timings() async throws {
        var metrics = TransportMetrics()
        metrics.nameLookup = .milliseconds(1)
        metrics.connect = .milliseconds(3)
        metrics.tlsHandshake = .milliseconds(7)
        metrics.sendStart = .milliseconds(8)
        metrics.firstByte = .milliseconds(20)
        metrics.total = .milliseconds(25)
        metrics.localPort = 47
        let fresh = try await HARArchive(exchanges([HTTPRequest("http://h/")], metrics: metrics)).entries[0]
        let times = fresh.timings
        #expect(
            [times.blocked, times.dns, times.connect, times.ssl, times.send, times.wait, times.receive] == [1, 1, 6, 4, 0, 12, 5])
        #expect(fresh.time == 25 && fresh.connection == "47")
        for (queued, parts) in [(500, [501, 1, 6, 4]), (502, [503, 0, 5, 4])] as [(Int, [Double])] {
            var queuing = metrics
            for time in [\TransportMetrics.nameLookup, \.connect, \.tlsHandshake, \.sendStart, \.firstByte, \.total] {
                queuing[keyPath: time]? += .milliseconds(500)
            }
            queuing.connectStart = .milliseconds(queued)
            let late = try await HARArchive(exchanges([HTTPRequest("http://h/")], metrics: queuing)).entries[0]
            #expect([late.timings.blocked, late.timings.dns, late.timings.connect, late.timings.ssl] == parts)
            #expect(late.time == 525)
        }
        metrics.isReusedConnection = true
        let kept = try await HARArchive(exchanges([HTTPRequest("http://h/")], metrics: metrics)).entries[0].timings
        #expect([kept.blocked, kept.dns, kept.connect, kept.ssl, kept.wait, kept.receive] == [8, -1, -1, -1, 12, 5])
        (metrics.isReusedConnection, metrics.firstByte) = (false, nil)
        let silent = try await HARArchive(exchanges([HTTPRequest("http://h/")], metrics: metrics)).entries[0].timings
        #expect([silent.blocked, silent.dns, silent.connect, silent.ssl, silent.wait, silent.receive] == [1, 1, 6, 4, 17, 0])
    }

    @Test("has no secret, unless it includes them", arguments: [false, true])
    func secrets(includes: Bool) async throws {
        var request = HTTPRequest(
            .post, "http://u:S3CR3T@h/a?token=S3CR3T",
            headers: ["Cookie": "S3CR3T", .authorization: "S3CR3T", "X-Mine": "S3CR3T", .location: "/up/S3CR3T"],
            body: .json(text: #"{"password":"S3CR3T","pin":"S3CR3T"}"#))
        request.route = "http://h/a?token=S3CR3T"
        let form = HTTPRequest(.post, "http://h/", body: .form([("client_secret", "S3CR3T")]))
        let redaction = Redaction(headers: ["X-Mine", .location], jsonFields: ["pin"])
        let binary = HTTPRequest(
            .post, "http://h/", headers: [.contentType: "application/octet-stream"], body: .bytes(Array("S3CR3T".utf8)))
        let signed = "https://h/ab?sig=S3CR3T"
        let playlists = ["audio/mpegurl", "Audio/X-MPEGURL ; charset=utf-8", "video/mpegurl"].map {
            HTTPRequest(.post, "http://h/", headers: [.contentType: $0], body: .bytes(Array(signed.utf8)))
        }
        let archive = HARArchive(
            try await exchanges([request, form, binary] + playlists), redaction: redaction, includesSecrets: includes)
        let text = String(decoding: try archive.encoded(), as: UTF8.self)
        #expect(text.contains("S3CR3T") == includes && !text.contains(Data(signed.utf8).base64EncodedString()))
    }

    @Test(
        "of others is read with what it has",
        arguments: [
            #"{"log":{"entries":[{"request":{"url":"http://h/"}}]}}"#,
            #"{"log":{"entries":[{"request":{"url":"http://h/","method":"GET","headersSize":"x"},"response":{"status":0},"timings":{"wait":-5.5}}]}}"#,
            #"{"log":{"entries":[{"request":{"url":"http://h/"},"response":{"status":1e300,"content":{"text":"a"}}}], "pages":[1]}}"#,
            #"{"log":{"entries":[{"request":{"url":"http://h/"},"time":1e300,"response":{"status":200.5,"bodySize":1e19},"timings":{"wait":1e308}}]}}"#,
        ])
    func tolerance(text: String) throws {
        let archive = try HARArchive(Data(text.utf8))
        #expect(archive.count == 1 && archive.entries[0].request.url == "http://h/")
        #expect(throws: Never.self) { try HARArchive(archive.encoded()) }
        #expect(CallReport(archive).html().contains("http://h/"))
    }

    @Test("of others keeps the fields of a message where one of them has no value")
    func incompleteFields() throws {
        let entry = #"""
            {"request":{"url":"http://h/","headers":[{"name":"A"},{"name":"B","value":"b"}]},
            "response":{"status":200,"headers":[{"name":"C","value":null},{"name":"D","value":"d"}]}}
            """#
        let read = try HARArchive(Data(#"{"log":{"entries":[\#(entry)]}}"#.utf8)).entries[0]
        #expect(read.request.headers.map(\.value) == ["", "b"] && read.response.headers.map(\.value) == ["", "d"])
    }

    @Test(
        "of others may have the fields of a form in place of its text",
        arguments: [
            (
                "application/x-www-form-urlencoded; charset=UTF-8", #"[{"name":"a b","value":"c&d"},{"name":"e"}]"#,
                "a+b=c%26d&e=", false
            ),
            ("application/x-www-form-urlencoded", "[]", "", false),
            ("multipart/form-data; boundary=x", #"[{"name":"a","value":"b"}]"#, "", true),
        ])
    func formFields(type: String, fields: String, text: String, isCut: Bool) throws {
        let data = #"{"mimeType":"\#(type)","params":\#(fields)}"#
        let entry = #"{"request":{"url":"http://h/","method":"POST","postData":\#(data)}}"#
        let archive = try HARArchive(Data(#"{"log":{"entries":[\#(entry)]}}"#.utf8))
        for archive in [archive, try HARArchive(archive.encoded())] {
            let call = try #require(archive.calls.first)
            #expect(call.request.body.bytes == Array(text.utf8) && call.isCut == isCut)
        }
    }

    @Test(
        "that is none is refused with an error, whatever it is",
        arguments: [
            "", "[]", "{}", "null", #"{"log":{}}"#, #"{"log":{"entries":{}}}"#, #"{"log":{"entries":[1]}}"#,
            #"{"log":{"entries":[{"request":{}}]}}"#, #"{"entries""#, String(repeating: "[", count: 100_000),
            #"{"log":{"entries":[{"request":{"url":7}}]}}"#,
            #"{"log":{"entries":["# + String(repeating: "{\"a\":", count: 50_000),
        ])
    func hostile(text: String) {
        do {
            let archive = try HARArchive(Data(text.utf8))
            #expect(archive.count == 0)
        } catch {
            #expect(error is HARArchive.Failure)
        }
    }

    @Test("that is cut anywhere is read up to its last whole entry")
    func cuts() async throws {
        let archive = HARArchive(try await exchanges((0..<4).map { HTTPRequest("http://h/\($0)?q=\"]}") }))
        let data = try archive.encoded()
        var counts: [Int] = []
        for length in stride(from: HARFormat.beginning.count, through: data.count, by: 7) {
            counts.append(try HARArchive(data.prefix(length)).count)
        }
        #expect(counts == counts.sorted() && Set(counts) == [0, 1, 2, 3, 4])
    }

    private static let foreign = #"""
        {"log":{"creator":{"name":"Browser"},"pages":[{"id":"page_1"}],"entries":[ {"pageref":"page_1","request":{"url":"http://h/?x=1",
        "queryString":[{"name":"x","value":"1"}],"cookies":[{"name":"c","value":"d","path":"/"}]},
        "response":{"status":200,"cookies":[{"name":"e","value":"f"}]},"_priority":"High"}
        """#

    @Test(
        "that was cut off is mended behind its last whole entry, and only there",
        arguments: [#",{"request":{"url":"http"#, #"], "comment""#])
    func mending(rest: String) async throws {
        try await withFolder { folder in
            let (path, link, files) = ("\(folder)/a.har", "\(folder)/link.har", FileManager.default)
            try Data((Self.foreign + rest).utf8).write(to: URL(fileURLWithPath: path))
            try files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
            try files.createSymbolicLink(atPath: link, withDestinationPath: path)
            #expect(try HARArchive.mend(link) == 1)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.foreign + "\n]}}\n")
            #expect(try files.destinationOfSymbolicLink(atPath: link) == path)
            #expect(try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        }
    }

    @Test("that is whole stays as it is, and so does a file that can't be mended")
    func notMended() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            func isMended(_ text: String) throws -> Bool {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
                defer { #expect((try? String(contentsOfFile: path, encoding: .utf8)) == text) }
                return try HARArchive.mend(path) == 1
            }
            let isWhole = try isMended(Self.foreign + #"], "comment": "" } }"#)
            #expect(isWhole)
            #expect(throws: HARArchive.Failure.self) { try isMended(#"{"entries":[{"request":{"url":"http://h/"}},"#) }
        }
    }

    @Test("of others keeps its query strings and cookies")
    func itemsOfOthers() throws {
        let read = try HARArchive(HARArchive(Data((Self.foreign + "]}}").utf8)).encoded()).entries[0]
        #expect(read.request.queryString.map(\.value) == ["1"] && read.request.cookies.map(\.value) == ["d"])
        #expect(read.response.cookies.map(\.name) == ["e"])
    }

    @Test("larger than its limit isn't read")
    func limit() async throws {
        try await withFolder { folder in
            let path = "\(folder)/a.har"
            try Data(repeating: 32, count: 100).write(to: URL(fileURLWithPath: path))
            #expect(throws: HARArchive.Failure.tooLarge(limit: 99)) { try HARArchive(contentsOf: path, limit: 99) }
            #expect(throws: HARArchive.Failure.self) { try HARArchive(contentsOf: "\(folder)/none.har") }
        }
    }
}
