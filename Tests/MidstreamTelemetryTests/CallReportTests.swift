import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTelemetry

@Suite("The page of calls", .leavesNothing)
struct CallReportTests {
    /// A redirect, a retry, a failure, and one that tries to be code.
    private func calls() async throws -> [CallRecord] {
        let keeper = CallKeeper()
        var configuration = HTTPClient.Configuration(observers: [keeper])
        configuration.maxRetries = 1
        configuration.validators = [DefaultValidator(retriableStatus: [503: .immediate], retriableErrors: [:])]
        let stub = StubTransport { request in
            let path = request.url.path
            if path == "/old" { return HTTPResponse(status: 302, headers: [.location: "/new"], request: request) }
            if path == "/busy", request.attempt == 1 { return HTTPResponse(status: 503, request: request) }
            if path == "/lost" { throw HTTPError(.connection, "No route.", request: request) }
            return HTTPResponse(
                status: .ok, headers: ["X-Odd": "</script><script>document.title='taken'</script>\u{2028}"],
                body: .json(text: #"{"name": "<b>Ann"}"#), request: request)
        }
        let client = testClient(baseURL: "https://api.example.com", configuration: configuration, transport: stub)
        for path in ["old", "busy", "lost", "odd?token=canary"] { _ = try? await client.send(HTTPRequest(path)) }
        return keeper.calls
    }

    private struct Page: Decodable {
        struct Call: Decodable {
            struct Exchange: Decodable {
                let number: Int
                let cause: String?
                let status: Int?
                let error: String?
                let start: Double
                let duration: Double
                let phases: [String: Double]
                let requestHeaders: [[String]]
                let isRequestCut: Bool?
                let isCut: Bool?
            }
            struct Event: Decodable {
                let name: String
                let text: String
                let attributes: [String: EventValue]?
            }
            struct Outcome: Decodable {
                let status: Int?
                let error: String?
                let message: String?
                let cache: String?
            }
            let url: String
            let outcome: Outcome
            let attempts: Int
            let exchanges: [Exchange]
            let events: [Event]
        }
        let version: Int
        let title: String
        let made: Int64
        let calls: [Call]
    }

    private func page(_ html: String) throws -> Page {
        let begin = try #require(html.range(of: #"<script type="application/json" id="data">"#)?.upperBound)
        let end = try #require(html[begin...].range(of: "</script>")?.lowerBound)
        return try JSONDecoder().decode(Page.self, from: Data(html[begin..<end].utf8))
    }

    @Test("has a call as one thing, with its exchanges, why each was made, and what happened")
    func data() async throws {
        let page = try page(CallReport(await calls(), title: "A day").html())
        #expect(page.version == 1 && page.title == "A day" && page.calls.count == 4)
        #expect(page.calls[0].exchanges.map(\.status) == [302, 200] && page.calls[0].exchanges[1].cause == "redirect")
        #expect(page.calls[1].exchanges.map(\.cause) == ["first", "retry"])
        #expect(page.calls[1].events.contains { $0.name == "retry" && !$0.text.isEmpty && $0.attributes?.isEmpty == false })
        #expect(page.calls.map(\.attempts) == [1, 2, 1, 1])
        #expect(page.calls.map(\.outcome.status) == [200, 200, nil, 200] && page.calls[0].outcome.error == nil)
        #expect(page.calls[2].outcome.error == "connection" && page.calls[2].outcome.message?.contains("No route.") == true)
        let retry = page.calls[1].exchanges
        #expect(retry[1].start >= retry[0].start + retry[0].duration)
    }

    @Test("has the phases that there were, a handshake as one of its own")
    func phases() throws {
        var entry = HAREntry()
        entry.timings.connect = 5
        entry.timings.ssl = 3
        entry.timings.wait = 7.25
        #expect(
            try page(CallReport(HARArchive([entry])).html()).calls[0].exchanges[0].phases == [
                "connect": 2, "tls": 3, "wait": 7.25,
            ])
    }

    @Test("tells which bodies it doesn't have as a whole")
    func cutBodies() throws {
        var entries = [HAREntry(), HAREntry(), HAREntry()]
        entries[1]._midstream = HAREntry.Own(isCut: true, isRequestCut: true)
        entries[2].request.bodySize = 3
        let exchanges = try page(CallReport(HARArchive(entries)).html()).calls.flatMap(\.exchanges)
        #expect(exchanges.map(\.isRequestCut) == [nil, true, true])
        #expect(exchanges.map(\.isCut) == [nil, true, nil])
    }

    @Test("has of two exchanges the first one first, and what the call came to from the one that won", arguments: [1, 2])
    func hedges(winner: Int) throws {
        // As a recorder writes them: the one that has lost behind the other.
        let entries = [winner, 3 - winner].map { number in
            var entry = HAREntry()
            entry.startedDateTime = "2026-01-01T00:00:0\(number).000Z"
            entry.response.status = number == winner ? 200 : 0
            entry._midstream = HAREntry.Own(
                call: "a", number: number, cause: number == 1 ? "first" : "hedge", error: number == winner ? nil : "cancelled")
            return entry
        }
        let call = try #require(try page(CallReport(HARArchive(entries)).html()).calls.first)
        #expect(call.outcome.status == 200 && call.outcome.error == nil)
        #expect(call.exchanges.map(\.number) == [1, 2] && call.exchanges.map(\.start) == [0, 1_000])
    }

    @Test("doesn't take what an interceptor answers for a cache's")
    func answeredHere() async throws {
        let keeper = CallKeeper()
        let client = testClient(configuration: .init(observers: [keeper]), transport: StubTransport.ok) {
            ClosureHTTPInterceptor("Here", stage: .call) { request, _ in HTTPResponse(status: .accepted, request: request) }
        }
        _ = try await client.send(HTTPRequest("https://h/"))
        let call = try #require(try page(CallReport(keeper.calls).html()).calls.first)
        #expect(call.exchanges.isEmpty && call.attempts == 0)
        #expect(call.outcome.status == 202 && call.outcome.cache == nil && call.outcome.error == nil)
    }

    @Test("reads the same in an archive")
    func archive() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("a.har").path
        let (recorder, keeper) = (try HARRecorder(file: path), CallKeeper())
        let attributes: [String: EventValue] = [
            "flag": true, "count": 3, "share": 0.25, "text": "a \"b\"", "none": .number(.infinity),
        ]
        let client = testClient(
            baseURL: "https://api.example.com", configuration: .init(observers: [recorder, keeper]),
            transport: StubTransport { request in
                request.url.path == "/old"
                    ? HTTPResponse(status: 302, headers: [.location: "/new"], request: request)
                    : HTTPResponse(status: .ok, request: request)
            }
        ) {
            ClosureHTTPInterceptor("Own", stage: .call) { request, next in
                request.record(CallEvent("own", "something", attributes))
                return try await next(request)
            }
        }
        _ = try await client.send(HTTPRequest("old"))
        _ = try await client.send(HTTPRequest("other"))
        await recorder.flush()
        let archive = try HARArchive(contentsOf: path)
        let shown = attributes.merging(["none": "inf"]) { $1 }
        #expect(archive.entries[0]._midstream?.events?.first?.attributes == shown)
        let (page, live) = (try page(CallReport(archive).html()), try page(CallReport(keeper.calls).html()))
        #expect(page.calls.map { $0.exchanges.count } == [2, 1])
        for page in [page, live] {
            #expect(page.calls[0].events.first { $0.name == "own" }?.attributes == shown)
            #expect(page.calls[0].events.contains { $0.name == "redirect" && $0.attributes?["status"] == 302 })
            #expect(page.calls.map(\.attempts) == [1, 1] && page.calls.map(\.outcome.status) == [200, 200])
        }
    }

    @Test("is one file whose code nobody else writes, and holds no secret")
    func safety() async throws {
        // One sign takes the character behind it along, and an accent the one before.
        let html = CallReport(try await calls(), title: "\u{600}<i>\"\u{301}&").html()
        #expect(html.utf8.firstRange(of: "<title>\u{600}&lt;i>&quot;\u{301}&amp;</title>".utf8) != nil)
        #expect(html.components(separatedBy: "</script>").count == 3 && !html.contains("\u{2028}"))
        #expect(!html.contains("canary") && !html.contains(" style=") && !html.contains("http-equiv=\"refresh"))
        let empty = CallReport([CallRecord]()).html()
        #expect(try page(empty).calls.isEmpty && empty.utf8.count < 80 << 10)
    }

    @Test("is made however far away its calls began")
    func farStart() async throws {
        let encoded = String(decoding: try JSONEncoder().encode(try await calls()[0]), as: UTF8.self)
        let text = encoded.replacing(#/"start":[-+.0-9eE]+/#, with: "\"start\":1e300")
        let read = try JSONDecoder().decode(CallRecord.self, from: Data(text.utf8))
        #expect(try page(CallReport([read]).html()).made == 8_000_000_000_000_000)
    }

    @Test("withholds what a client's own redaction names, in its route as well")
    func ownNames() async throws {
        let keeper = CallKeeper()
        let client = testClient(
            configuration: .init(observers: [keeper], redaction: Redaction(queryItems: ["session"])), transport: StubTransport.ok)
        var request = HTTPRequest("http://h/users/7?session=canary")
        request.route = "http://h/users/{}?session=canary"
        _ = try await client.send(request)
        let html = CallReport(keeper.calls).html()
        #expect(html.contains("{}?session=") && !html.contains("canary"))
    }

    @Test("lets run the script and the style that it has, and nothing else")
    func policy() async throws {
        for (file, hash) in [
            (PackageResources.script_js, CallReport.scriptHash), (PackageResources.style_css, CallReport.styleHash),
            (PackageResources.live_js, CallReport.liveHash),
        ] {
            let digest = try await HTTPBody.bytes(file).digest(.sha256)
            #expect(hash == "sha256-\(Data(digest).base64EncodedString())")
        }
    }
}
