import Midstream
import MidstreamTesting

/// Shows what Midstream is about: a request that meets a busy server, an expired token and a redirect, and all that is done to it.
@main
enum Demo {
    static func main() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let script = ServerScript()
        server.respond { await script.answer($0) }

        let client = HTTPClient(baseURL: server.url("/v1"), configuration: configuration(login: server.url("/v1/login"))) {
            RequestID()
            ClosureRequestInterceptor("Language") { $0.headers[.acceptLanguage] = "en" }
            ServerTime()
            WireLog()
        }
        var request = HTTPRequest("users/42", headers: [.authorization: "Bearer token-of-yesterday"])
        request.addQuery("full", "1")

        print(heading("1. Every feature is an interceptor, and a pipeline shows its order"))
        print(client.pipeline)

        print(heading("2. A request can be explained without being sent (the token stays hidden)"))
        print(try await client.explain(request))

        print(heading("3. Sending it: what goes over the wire, as the interceptor WireLog sees it"))
        let response = try await client.send(request)

        print(
            heading("4. The response tells what was done to it: retry, login, redirect, by whom and when (ms: start, duration)"))
        print(response.trace)

        print(heading("5. And the answer; then the same as a value that is sent when its result is asked for"))
        print(
            "\(response.status), server time \(ServerTime.of(response)), body: \(String(decoding: response.data, as: UTF8.self))")
        let name = try await client.get("people/42").query("full", "1").keyPath(\.name).decode(String.self).extractPayload()
            .result()
        print("the name is \(name)")
    }

    /// Retries what a retry may help, and logs in when the server says so.
    private static func configuration(login: String) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.maxRetries = 2
        let silentLogin = AlternateRequestValidator(statuses: [.unauthorized]) { _, _ in
            HTTPRequest(.post, login, body: .form([("user", "ann")]))
        } then: { request, response in
            request.headers[.authorization] = "Bearer \(String(decoding: response.data, as: UTF8.self))"
        }
        let retries = DefaultValidator(retriableStatus: [.serviceUnavailable: .delayed(.milliseconds(50))])
        configuration.validators = [silentLogin, retries]
        return configuration
    }

    private static func heading(_ text: String) -> String { "\n\u{1B}[1m\(text)\u{1B}[0m\n" }
}
