import Foundation
import Midstream
import MidstreamTesting
import Testing

#if os(Linux)
    import MidstreamWire
#endif

@Suite("Coming from AsyncHTTPClient", .timeLimit(.minutes(10)))
struct FromAsyncHTTPClient {
    private struct User: Decodable, Sendable { let name: String }

    private let stub = StubTransport(status: .ok, body: .json(text: #"{"name": "Ann"}"#))

    @Test("A request")
    func request() async throws {
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub)
        let user = try await client.get("users/42")
            .query("full", true)
            .header(.accept, "application/json")
            .timeout(.seconds(5))
            .value(User.self)
        #expect(user.name == "Ann" && stub.requests.first?.timeout == .seconds(5))
    }

    #if os(Linux)
        @Test("A client, and streams both ways")
        func streams() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { .init(body: .bytes($0.body)) }
            let baseURL = server.url()
            let transport = WireTransport(
                configuration: .init(connectTimeout: .seconds(5), headTimeout: .seconds(30), idleTimeout: .seconds(30)))
            let client = HTTPClient(
                baseURL: baseURL, configuration: .init(timeout: .seconds(60), redirects: .follow(limit: 3)), transport: transport)
            defer { transport.close() }
            let chunks = AsyncStream<[UInt8]> { continuation in
                for _ in 0..<3 { continuation.yield([UInt8](repeating: 7, count: 1_000)) }
                continuation.finish()
            }
            var received = 0
            let response = try await client.post("numbers", body: .once(chunks)).deadline(.seconds(60)).stream()
            for try await chunk in response.body {
                received += chunk.count
            }
            #expect(received == 3_000)
        }
    #endif

    @Test("What stood around it")
    func around() async throws {
        let tokens = AppTokens()
        let client = HTTPClient(baseURL: "https://api.example.com", configuration: .init(maxRetries: 3), transport: stub) {
            .logging
                .traceparent
                .bearer { try await tokens.refresh() }
        }
        _ = try await client.get("users/42").data()
        #expect(stub.requests.first?.headers["traceparent"] != nil)
    }
}
