import Midstream
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("What servers send reaches terminals and logs without control characters", .leavesNothing)
struct ShownTextTests {
    @Test(
        "Controls, line separators and marks of direction are escaped; all else stays",
        arguments: [
            ("plain, with a\ttab", "plain, with a\ttab"), ("\u{1B}[2J", "\\u{1B}[2J"),
            ("\u{7}\u{7F}\u{0}", "\\u{7}\\u{7F}\\u{0}"),
            ("\u{9B}31m", "\\u{9B}31m"), ("a\r\nb", "a\\u{D}\\u{A}b"), ("\u{2028}\u{202E}", "\\u{2028}\\u{202E}"),
            ("käse 🧀", "käse 🧀"),
        ])
    func escaping(text: String, shown: String) { #expect(text.escapingControls == shown) }

    @Test("In the descriptions of responses and errors, and in traces")
    func descriptions() async throws {
        let stub = StubTransport(status: 200, headers: ["X": "\u{1B}[2J\u{9B}", "Location": "/\u{7}"])
        let client = testClient(transport: stub) {
            ClosureResponseInterceptor(stage: .exchange) { response in
                response.request.note("quotes \(response.headers["X"] ?? "")")
                response.headers["Y"] = response.headers["X"]
            }
        }
        let response = try await client.send(HTTPRequest("https://h/"))
        let error = HTTPError(.protocolViolation, "The server says \(response.headers["X"] ?? "").", response: response)
        let shown = [response.debugDescription, "\(response.headers)", response.trace.description, "\(error)", error.message]
        for text in shown {
            #expect(text.contains("\\u{1B}[2J"))
            #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        }
        #expect(response.trace.description.contains("quotes \\u{1B}"))
        // The value itself stays as it came.
        #expect(response.headers["X"] == "\u{1B}[2J\u{9B}")
    }

    @Test("And so does what is in a request that can't be sent: in its error, and in what the trace says of it")
    func refusedRequests() async throws {
        let forged = "https://h/a\nERROR forged"
        let client = testClient(transport: StubTransport.ok)
        let error = try #require(await httpError { try await client.send(HTTPRequest(forged)) })
        let changing = testClient(transport: StubTransport.ok) { ClosureRequestInterceptor { $0.urlText = forged } }
        let trace = try #require(await httpError { try await changing.send(HTTPRequest("https://h/")) }?.trace)
        for text in ["\(error)", "\(trace)", "\(RequestURL(forged))"] {
            #expect(text.contains("/a\\u{A}ERROR forged"))
            #expect(!text.contains("\nERROR forged"))
        }
    }
}
