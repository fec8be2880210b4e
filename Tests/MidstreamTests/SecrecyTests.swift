import Foundation
import Midstream
import MidstreamSigning
import MidstreamTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if os(Linux)
    import MidstreamCurl
#endif

/// Puts a secret into every place of every public type that has one for it, and looks for it in all that can be printed.
@Suite("No type shows a secret that it was given", .leavesNothing)
struct TypeSecrecyTests {
    private static let secret = "S3CR3T"
    /// With a combining mark after what ends the user info, which makes of both another character.
    private static let urls = ["https://u:\(secret)@h/?token=\(secret)", "https://\(secret)@\u{301}h/"]

    private struct Key: RequestContextKey { static let defaultValue = "" }

    private static var client: HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.headers = headers
        configuration.query = [("api_key", secret)]
        return testClient(baseURL: urls[0], configuration: configuration, transport: StubTransport.ok) {
            AuthenticationInterceptor(BearerAuthenticator(token: secret))
        }
    }

    private static var headers: HTTPHeaders {
        var headers: HTTPHeaders = [.authorization: secret, "X-Mine": secret]
        headers.markSensitive("X-Mine")
        return headers
    }

    private static var request: HTTPRequest {
        var request = HTTPRequest(.post, urls[0], headers: headers, body: .form([("password", secret)]))
        request.context[Key.self] = secret
        request.interceptors = [APIKeyInterceptor(secret)]
        return request
    }

    private static var response: HTTPResponse {
        HTTPResponse(
            status: .ok, headers: [.setCookie: "a=\(secret)"], body: .text(secret), request: request,
            trailers: ["Authentication-Info": secret])
    }

    private static var form: MultipartForm {
        var form = MultipartForm()
        form.add(.field("password", secret))
        return form
    }

    @Test("messages and clients")
    func messages() async throws {
        let (request, response) = (Self.request, Self.response)
        expectNoSecret(Self.headers)
        expectNoSecret(request)
        expectNoSecret(request.context)
        expectNoSecret(response)
        expectNoSecret(HTTPError(.connection, request: request, response: response))
        expectNoSecret(HTTPBody.text(Self.secret))
        expectNoSecret(HTTPBody.data(Data(Self.secret.utf8)))
        expectNoSecret(Self.form)
        expectNoSecret(HTTPBody.multipart(Self.form))
        expectNoSecret(Self.client)
        expectNoSecret(Self.client.configuration)
        expectNoSecret(Self.client.pipeline)
        expectNoSecret(try await Self.client.explain(request))
        expectNoSecret(try await Self.client.send(request).trace)
        expectNoSecret(TypedRequest<String>(request))
    }

    @Test("credentials and what puts them on requests")
    func credentials() async throws {
        let secret = Self.secret
        expectNoSecret(BasicAuthenticator(user: secret, password: secret))
        expectNoSecret(try await BasicAuthenticator(user: secret, password: secret).refresh(nil))
        expectNoSecret(BearerAuthenticator(token: secret))
        expectNoSecret(BearerAuthenticator { _ in secret })
        expectNoSecret(AuthenticationInterceptor(BearerAuthenticator(token: secret), origins: Self.urls))
        expectNoSecret(APIKeyInterceptor(secret, origins: Self.urls))
        expectNoSecret(APIKeyInterceptor(secret, query: "key", origins: Self.urls))
        let token = OAuthToken(accessToken: secret, refreshToken: secret)
        expectNoSecret(token)
        expectNoSecret(InMemoryTokenStore(token))
        for url in Self.urls {
            let endpoint = OAuthTokenEndpoint(url: url, client: "app", secret: secret, using: Self.client)
            expectNoSecret(endpoint.client)
            expectNoSecret(endpoint)
            let authenticator = OAuthAuthenticator(.refreshToken(), from: endpoint, store: InMemoryTokenStore(token))
            expectNoSecret(authenticator)
            expectNoSecret(AuthenticationInterceptor(authenticator))
        }
        let aws = AWSCredentials(accessKeyID: "id", secretAccessKey: secret, sessionToken: secret)
        let signer = AWSSignerV4(aws, region: "r", service: "s")
        expectNoSecret(aws)
        expectNoSecret(signer)
        expectNoSecret(SigningInterceptor(signer, origins: Self.urls))
        expectNoSecret(DigestInterceptor(user: secret, password: secret, origins: Self.urls))
        let cookie = try Cookie("a", secret, domain: "h")
        let jar = CookieJar([cookie])
        expectNoSecret(cookie)
        expectNoSecret(jar)
        expectNoSecret(CookieInterceptor(jar))
    }

    @Test("tasks and their results")
    func tasks() async throws {
        let task = DataTask(Self.request, client: Self.client)
        expectNoSecret(task)
        expectNoSecret(task.retries(1))
        expectNoSecret(task.pages(.link()))
        expectNoSecret(try await task.result())
        expectNoSecret(ResponseHead(Self.response))
        expectNoSecret(GroupTask(["a": task.extractPayload()]))
    }

    @Test("transports, and what they are made with")
    func transports() async throws {
        let secret = Self.secret
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Mine": secret]
        configuration.connectionProxyDictionary = ["kCFProxyPasswordKey": secret]
        expectNoSecret(urlSessionTransport(configuration: configuration))
        let recorder = RecordingTransport(StubTransport { _ in Self.response })
        _ = try await recorder.send(Self.request)
        expectNoSecret(recorder)
        expectNoSecret(recorder.exchanges)
        expectNoSecret(RequestIdentity.user(secret))
    }

    @Test("what a server of a test has received")
    func received() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: .ok))
        let headers: HTTPHeaders = [.authorization: Self.secret, .cookie: "a=\(Self.secret)"]
        _ = try await testClient(baseURL: server.url()).send(HTTPRequest(.post, "/", headers: headers, body: .text("shown")))
        let request = try await server.takeRequest()
        #expect(request.headers[.authorization] == Self.secret && request.headers[.cookie] == "a=\(Self.secret)")
        expectNoSecret(request)
    }

    #if os(Linux)
        @Test("the libcurl transport, unused and in use", arguments: Self.urls)
        func curl(proxy: String) async throws {
            let secret = Self.secret
            var configuration = CurlTransport.Configuration()
            let credentials = CurlTransport.Configuration.Credentials(user: "u", password: secret)
            expectNoSecret(credentials)
            for proxy in [
                CurlTransport.Configuration.Proxy.http(proxy, credentials: credentials), .socks5(proxy, credentials: credentials),
            ] {
                expectNoSecret(proxy)
                configuration.proxy = proxy
                configuration.tls.clientCertificate = .init(certificate: "c", key: "k", password: secret)
                expectNoSecret(configuration.tls)
                expectNoSecret(configuration)
                let transport = curlTransport(configuration: configuration)
                expectNoSecret(transport)
                // An executor needs the threads, and they know the configuration.
                _ = transport.executor
                expectNoSecret(transport)
                expectNoSecret(testClient(transport: transport))
                transport.close()
            }
        }
    #endif

    @Test("the search finds a secret in whatever is printed", arguments: 0..<4)
    func search(place: Int) {
        struct Plain { var text = "", bytes: [UInt8] = [], data = Data(), object: Object? }
        final class Object { let text = TypeSecrecyTests.secret }
        let values = [
            Plain(text: Self.secret), Plain(bytes: Array(Self.secret.utf8)), Plain(data: Data(Self.secret.utf8)),
            Plain(object: Object()),
        ]
        #expect(!Self.places(in: values[place]).isEmpty)
    }

    private func expectNoSecret(_ value: Any, sourceLocation: SourceLocation = #_sourceLocation) {
        let places = Self.places(in: value)
        #expect(places.isEmpty, "\(type(of: value)) shows a secret", sourceLocation: sourceLocation)
    }

    /// What shows the secret of a value, in whatever way it is printed.
    private static func places(in value: Any) -> [String] {
        var (printed, debugged, dumped) = ("", "", "")
        print(value, to: &printed)
        debugPrint(value, to: &debugged)
        dump(value, to: &dumped)
        let texts = ["print": printed, "debugPrint": debugged, "reflecting": String(reflecting: value), "dump": dumped]
        var visited: Set<ObjectIdentifier> = []
        return texts.filter { $0.value.contains(secret) }.map(\.key) + walk(value, "", depth: 0, &visited)
    }

    private static func walk(
        _ value: Any, _ path: String, depth: Int, _ visited: inout Set<ObjectIdentifier>
    ) -> [String] {
        guard depth < 40 else { return [] }
        if let bytes = (value as? [UInt8]) ?? (value as? Data).map(Array.init) {
            return String(decoding: bytes, as: UTF8.self).contains(secret) ? [path] : []
        }
        if type(of: value) is AnyClass, !visited.insert(ObjectIdentifier(value as AnyObject)).inserted { return [] }
        var found = "\(value) \(String(reflecting: value))".contains(secret) ? [path] : []
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            for (index, child) in current.children.enumerated() {
                found += walk(child.value, "\(path).\(child.label ?? "\(index)")", depth: depth + 1, &visited)
            }
            mirror = current.superclassMirror
        }
        return found
    }
}
