import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Puts a secret of its own into every place that may hold one, and looks for it in everything that can be printed.
@Suite("Secrets appear nowhere but on the wire", .leavesNothing)
struct SecrecyTests {
    private static let secret = "S3CR3T"

    /// Holds a secret, as an interceptor with credentials does.
    private struct KeepsSecret: HTTPInterceptor {
        let token = SecrecyTests.secret

        func intercept(_ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>) async throws -> HTTPResponse {
            var request = request
            request.headers.add("X-Marked", token)
            request.headers.add(.cookie, "a=\(token)")
            request.addQuery("access_token", token)
            var response = try await next(request)
            response.headers.add(.setCookie, "b=\(token)")
            return response
        }
    }

    private enum Key: RequestContextKey { static let defaultValue = "" }

    private var client: HTTPClient {
        let secret = Self.secret
        var configuration = HTTPClient.Configuration()
        configuration.headers["X-API-Key"] = secret
        configuration.query = [("api_key", secret)]
        let stub = StubTransport { request in
            var headers: HTTPHeaders = [
                "Set-Cookie": secret, "Location": "https://u:\(secret)@h/?code=\(secret)#access_token=\(secret)",
            ]
            headers.markSensitive("X-Echo")
            headers["X-Echo"] = secret
            return HTTPResponse(
                status: request.urlText.contains("fails") ? 500 : 200, headers: headers, body: .text(secret), request: request,
                trailers: ["Authentication-Info": secret])
        }
        return testClient(baseURL: "https://u:\(secret)@h/?sig=\(secret)", configuration: configuration, transport: stub) {
            KeepsSecret()
        }
    }

    private func request(_ path: String) -> HTTPRequest {
        let secret = Self.secret
        var request = HTTPRequest(
            .post, "\(path)?token=\(secret)&shown=1", headers: ["Proxy-Authorization": secret, "X-Shown": "shown"],
            body: .form([("password", secret)]))
        request.headers.markSensitive("X-Marked")
        request.headers.add("X-Marked", secret)
        request.context[Key.self] = secret
        request.interceptors = [KeepsSecret()]
        return request
    }

    /// Everything that prints a value.
    private func texts(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        let children = Mirror(reflecting: value).children.map { "\($0.label ?? ""): \($0.value) \(String(reflecting: $0.value))" }
        return ["\(value)", String(reflecting: value), String(describing: Optional(value) as Any), "\([value])", dumped]
            + children
    }

    private func expectNoSecret(_ value: Any, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        for text in texts(value) {
            #expect(!text.contains(Self.secret), "\(name) shows a secret", sourceLocation: sourceLocation)
        }
    }

    @Test("the wire has the secrets, so that the others prove something")
    func wire() async throws {
        let client = client
        let sent = try await client.send(request("works")).request
        #expect(sent.urlText.components(separatedBy: Self.secret).count > 4)
        #expect(sent.headers.values("X-Marked").count == 3)
        #expect(sent.headers.values(.authorization) == ["Basic " + Data("u:\(Self.secret)".utf8).base64EncodedString()])
    }

    @Test("requests, and what they are made of")
    func requests() async throws {
        let request = request("works")
        expectNoSecret(request, "the request")
        expectNoSecret(request.headers, "its headers")
        expectNoSecret(request.context, "its context")
        expectNoSecret(request.body, "its body")
        expectNoSecret(HTTPRequest("https://u:\(Self.secret)@h/?key=\(Self.secret)"), "a request with credentials in its URL")
        expectNoSecret(try await client.send(request).request, "the request on the wire")
    }

    @Test("explanations and curl commands")
    func explanations() async throws {
        let explanation = try await client.explain(request("works"))
        expectNoSecret(explanation, "the explanation")
        expectNoSecret(explanation.steps, "its steps")
        #expect(explanation.description.contains("‹withheld›"))
        var request = explanation.request
        request.headers[.referer] = "https://u:\(Self.secret)@h/?code=\(Self.secret)"
        #expect(!request.curlCommand().contains(Self.secret))
        #expect(request.curlCommand(includingSecrets: true).components(separatedBy: Self.secret).count > 5)
    }

    @Test("an explanation withholds a header that is marked after it was set")
    func markedLaterInExplanation() async throws {
        let client = testClient(transport: StubTransport.ok) {
            ClosureRequestInterceptor { $0.headers["X-Mine"] = Self.secret }
            ClosureRequestInterceptor { $0.headers.markSensitive("X-Mine") }
        }
        let explanation = try await client.explain(HTTPRequest("https://h"))
        expectNoSecret(explanation, "the explanation")
        #expect(explanation.description.contains("+ X-Mine: ‹withheld›"))
    }

    @Test("responses and traces")
    func responses() async throws {
        let response = try await client.send(request("works"))
        expectNoSecret(response, "the response")
        expectNoSecret(response.headers, "its headers")
        expectNoSecret(response.trailers as Any, "its trailers")
        expectNoSecret(response.body, "its body")
        expectNoSecret(response.trace, "the trace")
        expectNoSecret(response.trace.spans, "the spans")
        let json = String(decoding: try JSONEncoder().encode(response.trace), as: UTF8.self)
        #expect(!json.contains(Self.secret))
        #expect(response.trace.description.contains("X-Marked: ‹withheld›"))
    }

    @Test("redirects")
    func redirects() async throws {
        let target = "https://u:\(Self.secret)@h/new?code=\(Self.secret)&access_token=\(Self.secret)"
        let stub = StubTransport(sequence: [.respond(302, headers: ["Location": target]), .respond(.ok)])
        let response = try await testClient(transport: stub).send(HTTPRequest("https://h/?token=\(Self.secret)"))
        #expect(stub.requests.last?.urlText.contains(Self.secret) == true)
        expectNoSecret(response.trace, "the trace")
        let events = response.trace.events(named: "redirect")
        #expect(events.count == 1)
        for event in events {
            expectNoSecret(event, "the redirect")
            expectNoSecret(event.attributes, "its parts")
        }
        let json = String(decoding: try JSONEncoder().encode(response.trace), as: UTF8.self)
        #expect(!json.contains(Self.secret))
    }

    @Test("errors")
    func errors() async {
        let error = await httpError { try await client.send(request("fails")) }
        #expect(error?.code == .unacceptableStatus && error?.response != nil && error?.request != nil && error?.trace != nil)
        expectNoSecret(error as Any, "the error")
        expectNoSecret(error?.trace as Any, "its trace")
        #expect(error.map { "\($0.message) \($0.localizedDescription) \($0 as NSError)" }?.contains(Self.secret) == false)
        for url in ["fails?\n", "https://u:\(Self.secret)@h:x/", "ftp://u:\(Self.secret)@h/?token=\(Self.secret)"] {
            let refused = await httpError { try await client.send(HTTPRequest(url)) }
            #expect(refused?.code == .invalidRequest)
            expectNoSecret(refused as Any, "the error for \(url)")
        }
    }

    @Test("clients, their settings and their pipelines")
    func clients() {
        expectNoSecret(client.pipeline, "the pipeline")
        expectNoSecret(client.configuration, "the configuration")
        expectNoSecret(client, "the client")
    }
}
