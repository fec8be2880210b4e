import Foundation
import Midstream
import MidstreamTesting
import Testing

#if os(Linux)
    import MidstreamWire
#endif

@Suite("Configuration.md")
struct ConfigurationExamples {
    private let stub = StubTransport(status: .ok)
    private let page = MarkdownPage(path: "Documentation/Configuration.md")

    @Test("A client, and one that differs in a point")
    func clients() async throws {
        let client = HTTPClient(
            baseURL: "https://api.example.com/v2",
            configuration: .init(headers: [.userAgent: "shop/1.4"], timeout: .seconds(10), maxRetries: 2),
            transport: stub)
        var patient = client.configuration
        patient.timeout = .seconds(300)
        let reports = HTTPClient(baseURL: "https://reports.example.com", configuration: patient, transport: stub)
        _ = try await reports.get("today").data()
        #expect(stub.requests.last?.headers[.userAgent] == "shop/1.4" && reports.configuration.maxRetries == 2)
    }

    @Test("A request")
    func request() async throws {
        var request = HTTPRequest("report")
        request.timeout = .unlimited
        request.deadline = .seconds(600)
        request.maxRetries = 5
        let explanation = try await HTTPClient(baseURL: "https://h", transport: stub).explain(request)
        #expect("\(explanation)".contains("call 600.0 seconds") && explanation.maxRetries == 5)
    }

    @Test("The table has all settings, in their order, and their defaults")
    func settings() throws {
        let configuration = HTTPClient.Configuration()
        let declared = try Repository.lines(of: "Sources/MidstreamCore/Client/Configuration.swift").compactMap {
            $0.firstMatch(of: /public var (\w+):/).map { String($0.1) }
        }
        #expect(declared.count > 15)
        #expect(try page.table(below: "Of a client") == declared)
        let lines = try page.lines()
        for start in [
            "| `headers` | `\(configuration.headers)` |", "| `query` | \(configuration.query.isEmpty ? "none" : "some") |",
            "| `timeout` | \(configuration.timeout?.components.seconds ?? 0) s |",
            "| `deadline` | \(configuration.deadline.map { "\($0)" } ?? "nil, none") |",
            "| `maxRetries` | \(configuration.maxRetries) |",
            "| `maximumRetryAfter` | \(configuration.maximumRetryAfter.components.seconds) s |",
            "| `sharesRetryAfter` | \(configuration.sharesRetryAfter) |",
            "| `redirects` | `.follow(limit: \(configuration.redirects.limit))` |",
            "| `maximumBufferedBody` | \(configuration.maximumBufferedBody >> 20) MiB |",
            "| `decoder` | `\(type(of: configuration.decoder))()` |", "| `encoder` | `\(type(of: configuration.encoder))()` |",
            "| `clock` | `\(type(of: configuration.clock))()` |", "| `recordsTrace` | \(configuration.recordsTrace) |",
        ] {
            #expect(lines.contains { $0.hasPrefix(start) }, "\(start)")
        }
        #expect(configuration.validators.count == 1 && configuration.validators.first is DefaultValidator)
    }

    @Test("The table of a request's settings has all that there are, and no other")
    func requestSettings() throws {
        var declared: Set<String> = []
        for path in Repository.files(below: "Documentation/API", withExtension: "txt") {
            var isRequest = false
            for line in try Repository.lines(of: path) {
                if !line.hasPrefix(" ") { isRequest = line.firstMatch(of: /^(struct|extension) HTTPRequest(:|$)/) != nil }
                if isRequest, let name = line.firstMatch(of: /^ +var (\w+): .* \{ get set \}$/)?.1 {
                    declared.insert(String(name))
                }
            }
        }
        let message: Set = ["id", "attempt", "method", "url", "urlText", "body"]
        #expect(message.isSubset(of: declared))
        #expect(try Set(page.table(below: "Of a request")) == declared.subtracting(message))
    }

    #if os(Linux)
        @Test("A transport")
        func transport() {
            let transport = WireTransport(configuration: .init(connectTimeout: .seconds(5), maximumConnectionsPerHost: 20))
            #expect(transport.configuration.maximumConnectionsPerHost == 20 && transport.configuration.eventLoops == 1)
        }

        @Test("The page about transports has all settings")
        func transportSettings() throws {
            let named = try MarkdownPage(path: "Documentation/Transports.md").table(below: "The wire")
            let labels = Mirror(reflecting: TransportConfiguration()).children.compactMap(\.label).filter { $0 != "tls" }
            let tls = Mirror(reflecting: TLSConfiguration()).children.compactMap(\.label).map { "tls.\($0)" }
            #expect(Set(labels + tls).subtracting(named).isEmpty)
        }
    #endif
}
