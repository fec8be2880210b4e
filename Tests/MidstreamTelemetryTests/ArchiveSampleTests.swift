import Foundation
import Interception
import Midstream
import MidstreamCore
import MidstreamTelemetry
import MidstreamTesting
import TestSupport
import Testing

#if os(Linux)
    import MidstreamCurl
#endif

/// Writes an archive of many kinds of exchanges for the programs of others, to the file that `MIDSTREAM_ARCHIVE_SAMPLE` names.
@Suite("An archive for others", .leavesNothing, .timeLimit(.minutes(10)))
struct ArchiveSampleTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let file = environment["MIDSTREAM_ARCHIVE_SAMPLE"]

    @Test("is written", .enabled(if: file != nil && environment["MIDSTREAM_NGINX_HTTPS"] != nil))
    func sample() async throws {
        let recorder = try HARRecorder(file: try #require(Self.file))
        let telemetry = try OpenTelemetryExporter(
            to: .file(try #require(Self.file) + ".otlp"), service: "sample", spans: .exchangesAndCalls, headers: [.contentType])
        let keeper = CallKeeper()
        let configuration = HTTPClient.Configuration(validators: [], observers: [recorder, telemetry, keeper])
        let client = testClient(configuration: configuration) { CacheInterceptor() }
        let plain = try #require(Self.environment["MIDSTREAM_NGINX_HTTP"])
        for number in 0..<40 {
            for path in [
                "/page?token=S3CR3T&n=\(number)", "/redirect", "/status/404", "/status/204", "/echo-headers?n=\(number)",
            ] {
                _ = try await client.send(HTTPRequest(plain + path))
            }
            _ = try await client.send(HTTPRequest(.put, plain + "/put/\(number)", body: .text("héllo \(number)")))
            let json = HTTPBody.json(text: #"{"password":"S3CR3T","n":\#(number)}"#)
            _ = try await client.send(HTTPRequest(.put, plain + "/put/json\(number)", body: json))
        }
        try await sendEncrypted(configuration)
        let strange = testClient(configuration: configuration, transport: Self.strange) { CacheInterceptor() }
        for number in 0..<40 { _ = try? await strange.send(HTTPRequest("http://h/\(number)?q=ä&empty=")) }
        for _ in 0..<2 { _ = try await strange.send(HTTPRequest("http://h/cached")) }
        _ = try? await client.send(HTTPRequest("http://127.0.0.1:1/refused"))
        await recorder.flush()
        await telemetry.flush()
        try writePages(of: keeper.calls)
        #expect(telemetry.dropped == 0 && recorder.dropped == 0 && recorder.failure == nil)
    }

    /// Makes calls until the file that `MIDSTREAM_LIVE_PAGE` names is removed, in which it has written where they can be seen.
    @Test("is shown live", .enabled(if: environment["MIDSTREAM_LIVE_PAGE"] != nil))
    func live() async throws {
        let file = try #require(Self.environment["MIDSTREAM_LIVE_PAGE"])
        let inspector = try InspectorObserver(keeping: 200, bodies: 1_000, title: "Live")
        let client = testClient(
            configuration: .init(validators: [], observers: [inspector]), transport: Self.strange
        ) { CacheInterceptor() }
        try inspector.url.write(toFile: file, atomically: true, encoding: .utf8)
        let number = Locked(0)
        await eventually {
            let next = number.increment()
            _ = try? await client.send(HTTPRequest("http://h/\(next)?token=S3CR3T"))
            return !FileManager.default.fileExists(atPath: file)
        }
    }

    /// Of none, of one, and of a thousand calls; and of the archive.
    private func writePages(of calls: [CallRecord]) throws {
        let file = try #require(Self.file)
        let many = Array([[CallRecord]](repeating: calls, count: 4).joined().prefix(1_000))
        #expect(many.count == 1_000)
        for (name, page) in [
            ("1000", CallReport(many, title: "A thousand").html()), ("1", CallReport(Array(calls.prefix(1))).html()),
            ("0", CallReport([CallRecord]()).html()),
            ("archive", CallReport(try HARArchive(contentsOf: file)).html()),
        ] {
            try Data(page.utf8).write(to: URL(fileURLWithPath: "\(file).\(name).html"))
        }
    }

    private func sendEncrypted(_ configuration: HTTPClient.Configuration) async throws {
        #if os(Linux)
            let url = try #require(Self.environment["MIDSTREAM_NGINX_HTTPS"])
            var settings = CurlTransport.Configuration()
            settings.tls.authorities = Self.environment["MIDSTREAM_CA"].map { .file($0) }
            let client = testClient(configuration: configuration, transport: curlTransport(configuration: settings))
            for number in 0..<40 { _ = try await client.send(HTTPRequest(url + "/page?n=\(number)")) }
        #endif
    }

    /// Pictures, empty bodies, control characters, failures and answers for a cache.
    private static let strange = StubTransport { request in
        let number = Int(request.urlText.dropFirst("http://h/".count).prefix { $0.isNumber }) ?? 0
        if number % 7 == 3 { throw HTTPError(.timeout, "too late") }
        var headers: HTTPHeaders = [.contentType: "image/png", .contentEncoding: "gzip", "X": "é\"\\"]
        if request.urlText.hasSuffix("cached") { headers = [.cacheControl: "max-age=60", .contentType: "text/plain"] }
        return HTTPResponse(
            status: HTTPStatus([200, 201, 503, 999][number % 4]), headers: headers,
            body: number % 5 == 0 ? .empty : .bytes([0, 255, UInt8(truncatingIfNeeded: number)]), request: request,
            version: number % 2 == 0 ? .http2 : .http1_0)
    }
}
