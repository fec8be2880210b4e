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

/// Puts a secret wherever one belongs, and looks for it in everything that is made of the record of calls.
@Suite("No reader of the record shows a secret", .leavesNothing, .timeLimit(.minutes(10)))
struct CanaryTests {
    private static let canary = "S3CR3T"

    /// All that was shown.
    private final class Sinks: CallObserver {
        let texts = Locked<[String]>([])
        private let calls = Locked(0)
        let keepsBodies = 1 << 20

        var callCount: Int { calls.withLock { $0 } }

        func show(_ text: String) { texts.withLock { $0.append(text) } }

        private func show(_ value: some Encodable) {
            let encoded = try? JSONEncoder().encode(value)
            show(String(decoding: encoded ?? Data(), as: UTF8.self))
            show("\(value)")
            var text = ""
            dump(value, to: &text)
            show(text)
        }

        func began(_ call: CallRecord.Start) { show("\(call)") }
        func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) { show("\(event)") }
        func endedExchange(_ exchange: ExchangeRecord) { show(exchange) }
        func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) { show(exchange) }
        func endedCall(_ call: CallRecord) {
            calls.withLock { $0 += 1 }
            show(call)
        }
    }

    private func expectNothingShown(
        _ transport: any HTTPTransport, atLeast count: Int = 1,
        _ calls: (HTTPClient.Configuration, any HTTPTransport, Sinks) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let sinks = Sinks()
            let recorder = try HARRecorder(file: "\(folder)/a.har")
            let telemetry = try OpenTelemetryExporter(
                to: .file("\(folder)/t.jsonl"), service: "s", spans: .exchangesAndCalls,
                headers: ["Set-Cookie", "Authorization", "X-Mine", "Location", "Link"])
            let keeper = CallKeeper()
            let inspector = try InspectorObserver(bodies: 1 << 20)
            let configuration = HTTPClient.Configuration(observers: [
                sinks, keeper, recorder, telemetry, inspector, .log(.bodies(upTo: 10_000)) { sinks.show($0) },
                .log(.bodies(upTo: 10_000), as: .json) { sinks.show($0) },
                .log(.line) { sinks.show($0) },
            ])
            try await calls(configuration, transport, sinks)
            await recorder.flush()
            sinks.show(try String(contentsOfFile: "\(folder)/a.har", encoding: .utf8))
            await telemetry.flush(within: .seconds(120))
            sinks.show(try String(contentsOfFile: "\(folder)/t.jsonl", encoding: .utf8))
            sinks.show(telemetry.metrics.prometheus)
            sinks.show(CallReport(keeper.calls).html())
            sinks.show(CallReport(try HARArchive(contentsOf: "\(folder)/a.har")).html())
            let page = try LivePage(inspector)
            sinks.show(try await page.html())
            let events = try await page.events(upTo: sinks.callCount)
            #expect(events.contains("id: \(sinks.callCount)\n"))
            sinks.show(events)
            #expect(sinks.callCount >= count)
            for text in sinks.texts.withLock({ $0 }) { #expect(!text.contains(Self.canary)) }
        }
    }

    /// Sends a request, and shows what came of it as callers may.
    private func send(_ request: HTTPRequest, by client: HTTPClient, _ sinks: Sinks) async {
        do {
            let response = try await client.send(request)
            sinks.show("\(response) \(response.trace)")
        } catch {
            sinks.show("\(error) \(String(reflecting: error))")
            guard let error = error as? HTTPError else { return }
            sinks.show(error.trace.map { "\($0)" } ?? "")
            let capsule = await error.capsule()
            sinks.show(String(decoding: (try? capsule?.encoded()) ?? Data(), as: UTF8.self))
        }
    }

    @Test("in headers, cookies, URLs, routes and bodies", arguments: [200, 302, 404, 503])
    func messages(status: Int) async throws {
        let secret = Self.canary
        let transport = StubTransport { request in
            HTTPResponse(
                status: HTTPStatus(status),
                headers: [
                    .setCookie: "a=\(secret)", "Location": "http://h/next?access_token=\(secret)",
                    .link: "<http://h/a?api_key=\(secret)&page=2>, <http://h/a?api_key=\(secret)&page=9>",
                    .contentType: "application/json",
                    "Authentication-Info": secret,
                ],
                body: .bytes(Array(#"{"access_token":"\#(secret)","deep":[{"password":"\#(secret)"}]}"#.utf8)), request: request)
        }
        try await expectNothingShown(transport, atLeast: 5) { configuration, transport, sinks in
            var configuration = configuration
            configuration.redirects = .follow(limit: 2)
            configuration.random = { 0 }
            let client = testClient(configuration: configuration, transport: transport) {
                CookieInterceptor()
                LoggingInterceptor { sinks.show($0) }
                AuthenticationInterceptor(BearerAuthenticator(token: secret), origins: ["http://h"])
            }
            var headers: HTTPHeaders = [
                .cookie: "a=\(secret)", "X-Api-Key": secret, "X-Mine": secret, "apikey": secret,
                "Ocp-Apim-Subscription-Key": secret,
            ]
            headers.markSensitive("X-Mine")
            let url = "http://user:\(secret)@h/a?token=\(secret)#access_token=\(secret)"
            await send(HTTPRequest(url, headers: headers), by: client, sinks)
            var routed = HTTPRequest("http://h/\(7)/b?api_key=\("x")&password=S3CR3T&private_token=S3CR3T&access_key=S3CR3T")
            await send(routed, by: client, sinks)
            routed.route = "http://h/{id}?token=\(secret)"
            await send(routed, by: client, sinks)
            await send(HTTPRequest(.post, url, body: .form([("client_secret", secret), ("a", "b")])), by: client, sinks)
            let json = HTTPBody.json(text: #"{"user":"a","passwort":"b","password":"\#(secret)","api_token":"\#(secret)"}"#)
            await send(HTTPRequest(.put, url, body: json), by: client, sinks)
            await send(HTTPRequest(.put, url, body: .multipart([.field("password", secret)])), by: client, sinks)
        }
    }

    /// Says in its plan where a request goes.
    private struct Planner: HTTPInterceptor {
        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            try await next(request)
        }

        func plan(_ request: inout HTTPRequest) async throws -> RequestPlan { .known("asks \(request.urlText)") }
    }

    @Test("in records, traces and what is made of them, also where a client's own redaction alone knows that it is one")
    func ownNames() async throws {
        let secret = Self.canary
        try await withFolder { folder in
            let (recorder, keeper, sinks) = (try HARRecorder(file: "\(folder)/a.har"), CallKeeper(), Sinks())
            let telemetry = try OpenTelemetryExporter(
                to: .file("\(folder)/t.jsonl"), service: "s", spans: .exchangesAndCalls, headers: ["X-Mine"])
            var configuration = HTTPClient.Configuration(observers: [recorder, keeper, sinks, telemetry])
            configuration.redaction = Redaction(headers: ["X-Mine"], queryItems: ["Ticket"], jsonFields: ["IBAN"])
            let transport = StubTransport { request in
                guard request.url.path == "/a" else {
                    throw HTTPError(.connection, "There is no way to \(request.redactedURL).", request: request)
                }
                let next = "http://h/b?ticket=\(secret)&page=7&rd=%2Fc%3Fticket%3D\(secret)"
                return HTTPResponse(status: .found, headers: [.location: next, .link: "<\(next)>"], request: request)
            }
            let client = testClient(configuration: configuration, transport: transport) {
                Planner()
                ClosureHTTPInterceptor("Own", stage: .call) { request, next in
                    request.record(CallEvent("own", "paid", ["iban": .string(secret), "access_token": .string(secret), "n": 7]))
                    let outcome = "connection: http://h/a?x leads to http://h/b?page=7&ticket=\(secret)"
                    request.record(CallEvent("told", "told", ["outcome": .string(outcome)]))
                    request.note("asks http://h/c?ticket=\(secret)&page=7")
                    var request = request
                    request.headers["X-Mine"] = secret
                    return try await next(request)
                }
            }
            let explained = HTTPRequest("http://h/a?ticket=\(secret)&page=7", headers: ["X-Mine": secret])
            let explanation = try await client.explain(explained)
            let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("http://h/a")) }
            await recorder.flush()
            let capsule = try #require(await error?.capsule())
            let archive = try HARArchive(contentsOf: "\(folder)/a.har")
            for text in [
                String(decoding: try archive.encoded(), as: UTF8.self), CallReport(archive).html(),
                CallReport(keeper.calls).html(),
                CallReport(capsule).html(),
            ] {
                #expect(!text.contains(secret))
                #expect(text.contains("page=7") && text.contains(#""n":7"#) && text.contains(#""iban":"#))
            }
            await telemetry.flush(within: .seconds(120))
            let call = try #require(keeper.calls.first)
            #expect(call.failure?.contains("page=7") == true)
            for text in [
                try String(contentsOfFile: "\(folder)/t.jsonl", encoding: .utf8), "\(call) \(call.failure ?? "")",
                String(decoding: try JSONEncoder().encode(call), as: UTF8.self),
                String(decoding: try HARArchive(call.exchanges).encoded(), as: UTF8.self),
                try #require(error?.trace).description,
                String(decoding: try JSONEncoder().encode(error?.trace), as: UTF8.self),
            ] + sinks.texts.withLock({ $0 }) {
                #expect(!text.contains(secret))
                #expect(text.contains("page=7") || !text.contains("/b"))
            }
            var dumped = ""
            dump(explanation, to: &dumped)
            for text in [explanation.description, String(reflecting: explanation), dumped] {
                #expect(text.contains("page=7") && !text.contains(secret))
            }
        }
    }

    @Test("in a capsule, also where its own redaction or the client's alone knows that it is one", arguments: [true, false])
    func capsules(isClients: Bool) async throws {
        let (secret, redaction) = (Self.canary, Redaction(headers: ["X-Mine"], queryItems: ["ticket"]))
        var configuration = HTTPClient.Configuration(
            headers: ["X-Mine": secret], query: [("ticket", secret)], keepsCapsules: true)
        if isClients { configuration.redaction = redaction }
        let transport = StubTransport { request in
            throw HTTPError(.connection, "There is no way to \(request.redactedURL).", request: request)
        }
        let client = testClient(configuration: configuration, transport: transport) {
            Planner()
            ClosureHTTPInterceptor("Own", stage: .call) { request, next in
                request.note("asks http://h/c?ticket=\(secret)&page=7")
                var request = request
                request.headers["X-Mine"] = "\(secret)2"
                return try await next(request)
            }
        }
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("http://h/a?page=7")) }
        let capsule = try #require(await error?.capsule(redaction: isClients ? nil : redaction))
        let encoded = String(decoding: try capsule.encoded(), as: UTF8.self)
        #expect(!encoded.contains(secret))
        let account = try #require(capsule.account)
        for text in [account.failure, account.trace, account.explanation] {
            #expect(text?.contains("page=7&ticket=‹withheld›") == true)
        }
        #expect(account.settings?.contains("headers: X-Mine: ‹withheld›") == true)
        #expect(account.settings?.contains("query: ?ticket=‹withheld›") == true)
        withExtendedLifetime(client) {}
    }

    @Test("in the exchange with a token endpoint", arguments: [true, false])
    func tokens(inForm: Bool) async throws {
        let secret = Self.canary
        let transport = StubTransport { request in
            guard request.urlText.contains("token") else { return HTTPResponse(status: .unauthorized, request: request) }
            return HTTPResponse(
                status: .ok, headers: [.contentType: "application/json"],
                body: .bytes(
                    Array(
                        #"{"access_token":"\#(secret)","token_type":"Bearer","expires_in":60,"refresh_token":"\#(secret)"}"#.utf8)
                ),
                request: request)
        }
        try await expectNothingShown(transport, atLeast: 2) { configuration, transport, sinks in
            let sender = testClient(configuration: configuration, transport: transport)
            let endpoint = OAuthTokenEndpoint(
                url: "http://h/token", client: "me", secret: secret, sendsSecretInForm: inForm, using: sender)
            let client = testClient(configuration: configuration, transport: transport) {
                AuthenticationInterceptor(OAuthAuthenticator(.clientCredentials(), from: endpoint), origins: ["http://h"])
            }
            await send(HTTPRequest("http://h/a"), by: client, sinks)
        }
    }

    #if os(Linux)
        @Test("in the settings of a proxy", .enabled(if: ProcessInfo.processInfo.environment["MIDSTREAM_HTTP_PROXY"] != nil))
        func proxy() async throws {
            let proxy = try #require(ProcessInfo.processInfo.environment["MIDSTREAM_HTTP_PROXY"])
            var settings = CurlTransport.Configuration()
            settings.proxy = .http(proxy, credentials: .init(user: "user", password: Self.canary))
            try await expectNothingShown(curlTransport(configuration: settings), atLeast: 2) { configuration, transport, sinks in
                let client = testClient(configuration: configuration, transport: transport)
                for url in ["http://127.0.0.1:1/", "https://localhost:1/"] { await send(HTTPRequest(url), by: client, sinks) }
            }
        }
    #endif
}
