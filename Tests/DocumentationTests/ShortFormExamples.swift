import Foundation
import Midstream
import MidstreamSigning
import MidstreamTesting
import Testing

@Suite("Pipeline.md: short forms")
struct ShortFormExamples {
    private let page = MarkdownPage(path: "Documentation/Pipeline.md")
    private let endpoint = OAuthTokenEndpoint(
        url: "https://login.example.com/token", client: "app", secret: "s",
        using: HTTPClient(transport: StubTransport(status: .ok)))

    @Test("are one list, whatever stands before them")
    func oneList() async throws {
        let log = Recorder()
        let transport = StubTransport(status: .ok)
        let jar = CookieJar()
        let key = "k"
        let client = HTTPClient(baseURL: "https://api.example.com", transport: transport) {
            .logging { log.write($0) }
                .traceparent
                .cookies(jar)
                .apiKey(key)
            Resilience.standard
            AttemptNumber()
                .bearer("token")
        }
        print(client.pipeline)
        try page.expectBlock(printing: "\(client.pipeline)")
        _ = try await client.send(HTTPRequest("users"))
        #expect(log.events.count == 1)
        let sent = try #require(transport.requests.first)
        #expect(
            sent.headers["X-API-Key"] == "k" && sent.headers[.authorization] == "Bearer token" && sent.headers["X-Attempt"] == "1"
        )
    }

    private struct AttemptNumber: RequestInterceptor {
        func intercept(request: inout HTTPRequest) async throws {
            request.headers["X-Attempt"] = "\(request.attempt)"
        }
    }

    /// One of each that there is, by its name.
    private var forms: [(name: String, made: ChainedHTTPInterceptor)] {
        [
            ("logging", .logging), ("logging", .logging { _ in }), ("logging", .logging(at: .exchange) { _ in }),
            ("traceparent", .traceparent), ("cookies", .cookies()), ("bearer", .bearer("t")), ("bearer", .bearer { "t" }),
            ("bearer", .bearer { rejected in rejected ?? "t" }), ("basic", .basic(user: "u", password: "p")),
            ("oauth", .oauth(.clientCredentials(), from: endpoint)), ("apiKey", .apiKey("k")),
            ("digest", .digest(user: "u", password: "p")),
        ]
    }

    @Test("stand in the table with the interceptor that they make and its stage, all of them")
    func table() throws {
        let rows = try page.lines().filter { $0.hasPrefix("| `.") }
        for (name, made) in forms {
            let client = HTTPClient(transport: StubTransport(status: .ok)) { made }
            let builtIn = Set(HTTPClient(transport: StubTransport(status: .ok)).interceptors.map(\.name))
            let interceptor = try #require(client.interceptors.first { !builtIn.contains($0.name) })
            let type = "\(Swift.type(of: interceptor))".replacing(/<.*>/, with: "")
            #expect(
                rows.contains { $0.contains("`.\(name)") && $0.contains("`\(type)") && $0.contains(".\(interceptor.stage)`") },
                "\(name) is \(type) at \(interceptor.stage)")
        }
        let declared = try Repository.files(below: "Documentation/API", withExtension: "txt").flatMap { path in
            try Repository.lines(of: path).drop { $0 != "extension ChainedHTTPInterceptor" }.dropFirst().prefix {
                $0.hasPrefix("    ")
            }
            .compactMap { $0.firstMatch(of: /static (?:func|var) (\w+)/).map { String($0.1) } }
        }
        #expect(Set(declared) == Set(forms.map(\.name)))
    }
}
