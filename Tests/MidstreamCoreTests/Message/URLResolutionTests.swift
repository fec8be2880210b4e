import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("URLs: joining, checking, encoding", .leavesNothing)
struct URLResolutionTests {
    /// The URL and headers that the transport is given.
    private func sent(
        _ url: String, base: String? = nil, query: [(String, String)] = []
    ) async throws -> HTTPRequest {
        var configuration = HTTPClient.Configuration()
        configuration.query = query
        let stub = StubTransport.ok
        _ = try await testClient(baseURL: base, configuration: configuration, transport: stub).send(HTTPRequest(url))
        return try #require(stub.requests.first)
    }

    @Test(
        "a relative URL is joined to the base",
        arguments: [
            ("https://h", "users", "https://h/users"),
            ("https://h", "/users", "https://h/users"),
            ("https://h/", "users", "https://h/users"),
            ("https://h/", "/users", "https://h/users"),
            ("https://h/v2", "users", "https://h/v2/users"),
            ("https://h/v2", "/users", "https://h/v2/users"),
            ("https://h/v2/", "users", "https://h/v2/users"),
            ("https://h/v2/", "/users", "https://h/v2/users"),
            ("https://h/v2", "", "https://h/v2"),
            ("https://h/v2/", "", "https://h/v2/"),
            ("https://h", "", "https://h"),
            ("https://h/v2", "?a=1", "https://h/v2?a=1"),
            ("https://h", "?a=1", "https://h?a=1"),
            ("https://h/v2", "users?a=1&b=2", "https://h/v2/users?a=1&b=2"),
            ("https://h/v2?k=1", "users", "https://h/v2/users?k=1"),
            ("https://h/v2?k=1", "users?a=1", "https://h/v2/users?a=1&k=1"),
            ("https://h/v2", "users#top", "https://h/v2/users#top"),
            ("https://h/v2#x", "users", "https://h/v2/users"),
            ("https://h:8080/v2", "users/", "https://h:8080/v2/users/"),
            ("https://h/v1", "users:search", "https://h/v1/users:search"),
            ("https://h/v1", "users/1:archive?x=y", "https://h/v1/users/1:archive?x=y"),
            ("https://h/a b", "ü", "https://h/a%20b/%C3%BC"),
            ("http://[::1]:80/x", "y", "http://[::1]:80/x/y"),
            // A slash that a combining character follows is a slash.
            ("https://h/v2/", "/\u{301}", "https://h/v2/%CC%81"),
            ("https://h/v2", "/\u{301}", "https://h/v2/%CC%81"),
            ("https://h", "?\u{301}", "https://h?%CC%81"),
        ])
    func joined(base: String, url: String, expected: String) async throws {
        #expect(try await sent(url, base: base).urlText == expected)
    }

    @Test("an absolute URL wins over the base", arguments: ["http://other/x?y=z", "https://other", "HTTP://other:81/"])
    func absolute(url: String) async throws {
        #expect(try await sent(url, base: "https://h/v2").urlText == url)
    }

    @Test(
        "what may not stand in a URL is encoded, and what may stays as it was given",
        arguments: [
            ("https://h/a b", "https://h/a%20b"),
            ("https://h/ü?q=ü#ü", "https://h/%C3%BC?q=%C3%BC#%C3%BC"),
            ("https://h/a%20b%2Fc", "https://h/a%20b%2Fc"),
            ("https://h/100%", "https://h/100%25"),
            ("https://h/%zz%4", "https://h/%25zz%254"),
            ("https://h/%C3%bc", "https://h/%C3%bc"),
            ("https://h/\"<>\\^`{|}", "https://h/%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("https://h/!$&'()*+,;=:@-._~/", "https://h/!$&'()*+,;=:@-._~/"),
            ("https://h/?q=a+b&c[]=1&d=/?:@", "https://h/?q=a+b&c%5B%5D=1&d=/?:@"),
            ("https://h/[a]#[b]", "https://h/%5Ba%5D#%5Bb%5D"),
            ("http://[::1]/[", "http://[::1]/%5B"),
            ("https://h?q=1", "https://h?q=1"),
            ("https://h/?", "https://h/?"),
            ("https://h/../x/./y", "https://h/../x/./y"),
        ])
    func encoded(url: String, expected: String) async throws {
        #expect(try await sent(url).urlText == expected)
    }

    @Test(
        "what can't be requested is refused before anything is sent",
        arguments: [
            "", "/path", "path", "//host/path", "///path", "ftp://h/x", "file:///etc/passwd", "mailto:a@b", "ws://h", "://h",
            "http://", "http:///x", "https://?q", "http:/h", "https:h", "http://:80/", "http://h:0/", "http://h:65536/",
            "http://h:8x/", "http://h:-1/", "http://h:99999999999999999999/", "http://h:80:90/", "http://a b/", "http://a\"b/",
            "http://a<b/", "http://a\\b/", "http://[::1/", "http://::1/", "http://[::1]x/", "http://[]/", "http://[::1]:x/",
            "http://h/\r\nX: 1", "http://h/\n", "http://h/\0", "http://h/\t", "http://h\u{7F}/", "http://h?a=\u{1}",
            "http://h#\n",
            "http://user@/", "http://user:pw@:80/", " http://h/",
        ])
    func refused(url: String) async {
        let stub = StubTransport.ok
        let error = await httpError { try await testClient(transport: stub).send(HTTPRequest(url)) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.phase == .notSent)
        #expect(error?.request != nil)
        #expect(stub.requests.isEmpty)
    }

    @Test(
        "the query of one that is refused isn't shown: own names of secrets are found in whole URLs alone",
        arguments: ["users?session=S3CR3T", "//h/users#session=S3CR3T", "ftp://h/users?session=S3CR3T"])
    func refusedQuery(url: String) async {
        let error = await httpError { try await testClient(transport: StubTransport.ok).send(HTTPRequest(url)) }
        #expect(error?.message.contains("users” ") == true && error?.message.contains("S3CR3T") == false)
    }

    @Test("a base never gives way to another host", arguments: ["//evil/path", "///evil", "//evil", "//u:p@evil/"])
    func hostless(url: String) async {
        let stub = StubTransport.ok
        let error = await httpError {
            try await testClient(baseURL: "https://h/v2", transport: stub).send(HTTPRequest(url))
        }
        #expect(error?.code == .invalidRequest)
        #expect(stub.requests.isEmpty)
    }

    @Test("a malformed base is refused when it is used", arguments: ["", "h/v2", "/v2", "ftp://h", "https://", "https://h:x"])
    func badBase(base: String) async {
        let stub = StubTransport.ok
        let error = await httpError { try await testClient(baseURL: base, transport: stub).send(HTTPRequest("x")) }
        #expect(error?.code == .invalidRequest && error?.trace == nil)
        #expect(stub.requests.isEmpty)
    }

    @Test(
        "hosts and ports of every kind are accepted",
        arguments: [
            "http://localhost/", "http://127.0.0.1:1/", "http://[::1]/", "http://[2001:db8::1]:65535/x", "http://h:/",
            "http://a.b-c_d~e/", "http://[fe80::1%25eth0]/", "http://h:0080/",
        ])
    func accepted(url: String) async throws {
        #expect(try await sent(url).urlText == url)
    }

    @Test("a URL that an interceptor has made is checked as well")
    func interceptorsURL() async throws {
        for url in ["relative", "ftp://h", "http://h/\r\nX: 1"] {
            let stub = StubTransport.ok
            let client = testClient(transport: stub) { ClosureRequestInterceptor { $0.urlText = url } }
            #expect(await httpError { try await client.send(HTTPRequest("https://h")) }?.code == .invalidRequest)
            #expect(stub.requests.isEmpty)
        }
        let stub = StubTransport.ok
        let client = testClient(transport: stub) { ClosureRequestInterceptor { $0.urlText = "https://h/a b" } }
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(stub.requests.first?.urlText == "https://h/a%20b")
    }

    @Test(
        "user and password leave the URL for the Authorization header",
        arguments: [
            ("https://user:pass@h/x", "https://h/x", "Basic dXNlcjpwYXNz"),
            ("https://us%3Aer:p%40ss@h:81/x", "https://h:81/x", "Basic dXM6ZXI6cEBzcw=="),
            ("https://user@h/x", "https://h/x", "Basic dXNlcjo="),
            ("https://u:\u{301}@h/x", "https://h/x", "Basic dTrMgQ=="),
            ("https://a@b:p@h/x", "https://h/x", "Basic YUBiOnA="),
            ("https://u:a:b@[::1]:8/x", "https://[::1]:8/x", "Basic dTphOmI="),
            ("https://u:50%-off%20now@h/x", "https://h/x", "Basic dTo1MCUtb2ZmIG5vdw=="),
            ("https://u:p%E9@h/x", "https://h/x", "Basic dTpw6Q=="),
        ])
    func userInfo(url: String, expected: String, authorization: String) async throws {
        for client in [nil, "https://other"] {
            let request = try await sent(url, base: client)
            #expect(request.urlText == expected)
            #expect(request.headers.values(.authorization) == [authorization])
        }
        let viaBase = try await sent("", base: url)
        #expect(viaBase.urlText == expected && viaBase.headers[.authorization] == authorization)
    }

    @Test("an Authorization header wins over user and password in the URL")
    func ownAuthorization() async throws {
        let stub = StubTransport.ok
        let request = HTTPRequest("https://u:p@h/", headers: [.authorization: "Bearer t"])
        _ = try await testClient(transport: stub).send(request)
        #expect(stub.requests.first?.headers.values(.authorization) == ["Bearer t"])
        #expect(stub.requests.first?.urlText == "https://h/")
    }

    @Test("an empty user and password aren't credentials")
    func emptyUserInfo() async throws {
        let request = try await sent("https://@h/")
        #expect(request.urlText == "https://h/")
        #expect(request.headers[.authorization] == nil)
    }

    @Test("user and password in a URL that an interceptor has made leave it too")
    func interceptorsUserInfo() async throws {
        let stub = StubTransport.ok
        let client = testClient(transport: stub) { ClosureRequestInterceptor { $0.urlText = "https://user:pass@h/x" } }
        _ = try await client.send(HTTPRequest("https://h"))
        #expect(stub.requests.first?.urlText == "https://h/x")
        #expect(stub.requests.first?.headers[.authorization] == "Basic dXNlcjpwYXNz")
    }

    @Test("an at sign behind the host is no user")
    func atSign() async throws {
        for url in ["https://h/a@b", "https://h?u=a@b", "https://h#a@b"] {
            let request = try await sent(url)
            #expect(request.urlText == url && request.headers[.authorization] == nil)
        }
    }

    @Test("A8 the endpoint's own query is kept, in order, and the client's items follow")
    func query() async throws {
        let items = [("z", "1 2"), ("a", "ü&=")]
        #expect(
            try await sent("https://h/x?b=1&a=2&b=3", query: items).urlText == "https://h/x?b=1&a=2&b=3&z=1%202&a=%C3%BC%26%3D")
        #expect(try await sent("x#f", base: "https://h?k=1", query: items).urlText == "https://h/x?k=1&z=1%202&a=%C3%BC%26%3D#f")
        #expect(try await sent("https://h", query: [("a", "")]).urlText == "https://h?a=")
    }

    @Test("A8 addQuery adds behind what is there")
    func addQuery() {
        var request = HTTPRequest("https://h/x?b=1#f")
        request.addQuery("a", "1&2")
        request.addQuery("flag")
        request.addQuery("left out", nil)
        request.addQuery("b", "")
        #expect(request.urlText == "https://h/x?b=1&a=1%262&flag&b=#f")
        var relative = HTTPRequest("x")
        relative.addQuery("q", "ü")
        #expect(relative.urlText == "x?q=%C3%BC")
    }
}
