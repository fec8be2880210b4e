import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("README")
struct ReadmeTests {
    private struct User: Decodable { let name: String }

    private let server = StubTransport(status: .ok, body: .text(#"{"name": "Ann"}"#))

    /// Stands for the initialiser in the example, which would go to the network.
    private func HTTPClient(
        baseURL: String, @PipelineBuilder interceptors: () -> [any HTTPInterceptor]
    ) -> Midstream.HTTPClient {
        Midstream.HTTPClient(baseURL: baseURL, transport: server, interceptors: interceptors)
    }

    @Test("The first example")
    func firstExample() async throws {
        struct RequestID: RequestInterceptor {
            func intercept(request: inout HTTPRequest) async throws {
                request.headers["X-Request-ID"] = request.id.uuidString
            }
        }

        let client = HTTPClient(baseURL: "https://api.example.com/v2") {
            RequestID()
            ClosureRequestInterceptor("Language") { $0.headers[.acceptLanguage] = "en" }
        }

        let response = try await client.send(HTTPRequest("users/42"))
        let user = try response.decode(User.self)

        print(client.pipeline)  // who sees a request, in which order
        print(response.trace)  // what was done to this one

        #expect(user.name == "Ann")
        let sent = try #require(server.requests.first)
        #expect(sent.urlText == "https://api.example.com/v2/users/42")
        #expect(sent.headers["X-Request-ID"] == sent.id.uuidString)
        #expect(sent.headers[.acceptLanguage] == "en")
    }

    private actor Session {
        func token() async throws -> String { "t" }
    }

    @Test("Short forms")
    func shortForms() async throws {
        let session = Session()
        let client = HTTPClient(baseURL: "https://api.example.com/v2") {
            .logging
                .traceparent
                .cookies()
                .bearer { try await session.token() }
        }
        _ = try await client.send(HTTPRequest("users/42"))
        #expect(server.requests.first?.headers[.authorization] == "Bearer t")
        #expect(server.requests.first?.headers["traceparent"] != nil)
    }

    @Test("A call as a value")
    func callAsValue() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com/v2") {}
        let id = 42

        let user = try await client.get("users/\(id)")  // percent-encoded, whatever it holds
            .query("full", true)
            .timeout(.seconds(5))
            .retries(3)
            .value(User.self)

        #expect(user.name == "Ann")
        #expect(server.requests.first?.urlText == "https://api.example.com/v2/users/42?full=true")
    }
}
