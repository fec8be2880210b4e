import Foundation
import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("What is interpolated into a URL stays in its place", .leavesNothing)
struct RequestURLTests {
    private func text(_ url: RequestURL) -> String { url.text }

    @Test func aValueIsOneSegmentOrOneItem() {
        let name = "../x y?z#ä&=%41"
        let encoded = "..%2Fx%20y%3Fz%23%C3%A4%26%3D%2541"
        #expect(text("users/\(name)/posts?of=\(name)") == "users/\(encoded)/posts?of=\(encoded)")
        #expect(text("users/\(42)/\(true)/\(UUID.zero)") == "users/42/true/00000000-0000-0000-0000-000000000000")
        #expect(text("a\(1)b\(2)") == "a1b2")
    }

    @Test func aPathKeepsItsSlashesAndNothingElse() {
        let key = "a b/c#1.txt/50%/d?e/ü&=+/.../f..g"
        let encoded = "a%20b/c%231.txt/50%25/d%3Fe/%C3%BC%26%3D%2B/.../f..g"
        #expect(text("bucket/\(path: key)") == "bucket/\(encoded)")
        #expect(text("\(path: key.dropFirst(4))?prefix=\(path: "a/&b")") == "\(encoded.dropFirst(6))?prefix=a/%26b")
        #expect(text("bucket\(path: "/a//b/")") == "bucket/a//b/" && text("bucket/\(path: "")") == "bucket/")
        #expect(text("https://h\(path: "/a:b@c/d")/e") == "https://h/a%3Ab%40c/d/e")
        #expect(HTTPRequest("bucket/\(path: key)?x=\(1)").route == "bucket/{}?x={}")
    }

    @Test func literalsAndTextsFromElsewhereStayAsTheyAre() {
        #expect(text("users?a=b c#ü/../x") == "users?a=b c#ü/../x")
        #expect(RequestURL("a/../b").text == "a/../b")
        let path = "/a b/../c"
        #expect(text("\(raw: path)/\("/")") == "/a b/../c/%2F")
        #expect(HTTPRequest(path).urlText == path)
        #expect(HTTPRequest(path.dropFirst(1)).urlText == "a b/../c")
    }

    @Test func aURLIsTakenForWhatItIs() throws {
        let base = try #require(URL(string: "https://h:8/v2?a=%41"))
        #expect(HTTPRequest(base).urlText == "https://h:8/v2?a=%41")
        #expect(text("\(base)&b=\("&")") == "https://h:8/v2?a=%41&b=%26")
        #expect(text("\(Optional(base), default: "")&b=\(URL?.none, default: "&")") == "https://h:8/v2?a=%41&b=%26")
        #expect(testClient(baseURL: base, transport: StubTransport.ok).baseURL == "https://h:8/v2?a=%41")
    }

    @Test func soIsOneThatHasBeenWritten() {
        let user: RequestURL = "https://u:CANARY@h/users/\("a/b")"
        let posts: RequestURL = "\(user)/posts?of=\(7)"
        #expect(posts.text == "https://u:CANARY@h/users/a%2Fb/posts?of=7")
        #expect(posts.route == "https://‹withheld›@h/users/{}/posts?of={}")
        #expect(text("\(RequestURL("a/b"))/\("c/d")") == "a/b/c%2Fd")
        #expect(text("\(Optional(user), default: "")/posts?of=\(7)") == posts.text)
    }

    @Test func aHostMayNotEndItself() {
        #expect(text("http://\("h:80")/") == "http://h:80/")
        #expect(text("http://\("[::1]"):\(80)/x") == "http://[::1]:80/x")
        #expect(text("http://\("a/b@c?d#e")/") == "http://a%2Fb%40c%3Fd%23e/")
        #expect(text("http://h?x=\("a:b")") == "http://h?x=a%3Ab")
    }

    @Test(
        "A value that makes a step of a segment is refused",
        arguments: [
            ("users/\("..")", true), ("users/\(".")/x", true), ("users/.\(".")", true), ("\("..")", true), ("a/\("")..", true),
            ("users/\("...")", false), ("users/\("..")x", false), ("users?x=\("..")", false), ("users#\("..")", false),
            ("../users/\("x")", false), ("a/\("../")", false), ("\(raw: "..")/x", false),
            ("a/\(path: "..")", true), ("a/\(path: "b/../c")", true), ("a/\(path: "b/.")", true), ("a.\(path: "./b")", false),
            ("a/.\(path: "./b")", true), ("a/\(path: "b/.").", true), ("a/\(path: "b/..")/\("c")", true),
            ("a/\(path: "b/...")", false), ("a?b=\(path: "c/../d")", false), ("\(path: "//other/x")", true),
            ("https://\(path: "other/x")", true), ("https://h\(path: ".other/x")", true), ("https://h\(path: "/x")", false),
            ("\("users/\("..")" as RequestURL)/x", true), ("\("../users" as RequestURL)/\("x")", false),
        ] as [(RequestURL, Bool)])
    func steps(url: RequestURL, isRefused: Bool) async {
        let stub = StubTransport.ok
        let client = testClient(baseURL: "https://h", transport: stub)
        if isRefused {
            #expect(await httpError { try await client.send(HTTPRequest(url)) }?.code == .invalidRequest)
        } else {
            await #expect(throws: Never.self) { try await client.send(HTTPRequest(url)) }
        }
        #expect(stub.requests.isEmpty == isRefused)
    }

    @Test func whatIsNotThereIsNoValue() async throws {
        struct Name { let text = "a/b" }
        let missing: Int? = nil
        #expect(text("users/\(missing, default: "a/b")/\(Int?(7), default: "")") == "users/a%2Fb/7")
        #expect(text("users/\(Name())") == "users/Name%28text%3A%20%22a%2Fb%22%29")
        let stub = StubTransport.ok
        let client = testClient(baseURL: "https://h", transport: stub)
        #expect(await httpError { try await client.send(HTTPRequest(ofUnwrapped(missing))) }?.code == .invalidRequest)
        _ = try await client.send(HTTPRequest(ofUnwrapped(7)))
        #expect(stub.requests.map(\.urlText) == ["https://h/users/7"])
    }

    @Test(
        "A request that is made within a call is refused as well",
        arguments: [HTTPRequest("https://h/users/\("..")/keys"), HTTPRequest("https://h/x", body: "text")])
    func madeWithinACall(made: HTTPRequest) async {
        let stub = StubTransport(status: .found, headers: [.location: "/b"])
        let detour = testClient(transport: stub) { ClosureHTTPInterceptor("Detour") { _, next in try await next(made) } }
        #expect(await httpError { try await detour.send(HTTPRequest("https://h/a")) }?.code == .invalidRequest)
        #expect(stub.requests.isEmpty)
        var configuration = HTTPClient.Configuration()
        configuration.redirects = .custom { _, _ in made }
        let client = testClient(configuration: configuration, transport: stub)
        #expect(await httpError { try await client.send(HTTPRequest("https://h/a")) }?.code == .invalidRequest)
        #expect(stub.requests.map(\.urlText) == ["https://h/a"])
    }

    private func ofUnwrapped(_ id: Int?) -> RequestURL { (OptionalInURL() as any URLMaking).url(id) }

    @Test func theRouteHasNoValues() async throws {
        let client = testClient(baseURL: "https://h", transport: StubTransport.ok)
        #expect(HTTPRequest("users/\(1)/posts?page=\(2)").route == "users/{}/posts?page={}")
        #expect(HTTPRequest("users/1").route == nil)
        let response = try await client.send(HTTPRequest("users/\(1)"))
        #expect(response.request.route == "users/{}" && response.request.urlText == "https://h/users/1")
    }

    @Test func theRouteOfABaseHasItsOrigin() throws {
        let id = 1
        let url = try #require(URL(string: "https://u:CANARY@h:8443/v2/?key=CANARY"))
        let base: RequestURL = "https://h/v2/"
        #expect(HTTPRequest("\(raw: "https://h")/users/\(id)").route == "https://h/users/{}")
        #expect(HTTPRequest("\(raw: "https://h/")users/\(id)").route == "https://h/users/{}")
        #expect(HTTPRequest("\(base)users/\(id)").route == "https://h/{}/users/{}")
        #expect(HTTPRequest("\(url)&page=\(id)").route == "https://‹withheld›@h:8443/{}/?{}&page={}")
        #expect(HTTPRequest("\(raw: "/v2")/users/\(id)").route == "{}/users/{}")
        #expect(HTTPRequest("a/\(raw: "https://h")").route == "a/{}")
        // A path behind a host isn't part of that.
        #expect(HTTPRequest("https://h\(path: "/users/1")").route == "https://h/{}")
        #expect(HTTPRequest("https://h\(raw: "/users/1")").route == "https://h/{}")
    }

    @Test func aURLInterpolatedAloneHasNoRoute() throws {
        let url = try #require(URL(string: "https://h/articles/1"))
        let (text, ofUser): (RequestURL, RequestURL) = ("https://h/articles/1", "users/\(1)")
        for request in [HTTPRequest("\(url)"), HTTPRequest("\(text)"), HTTPRequest("\(raw: text.text)")] {
            #expect(request.route == nil && request.urlText == "https://h/articles/1")
        }
        #expect(HTTPRequest("\(ofUser)").route == "users/{}" && HTTPRequest("\(1)").route == "{}")
    }

    @Test func theRouteHasNoSecrets() {
        let id = 1
        #expect(HTTPRequest("users/\(id)?api_key=CANARY&b=2").route == "users/{}?api_key=‹withheld›&b=2")
        let url: RequestURL = "https://u:CANARY@h/\(id)"
        #expect(url.route == "https://‹withheld›@h/{}" && HTTPRequest(url).urlText == "https://u:CANARY@h/1")
        var request = HTTPRequest("x")
        request.route = "{}?token=CANARY"
        #expect(request.route == "{}?token=‹withheld›")
        request.route = nil
        #expect(request.route == nil)
    }

    @Test func itShowsNoCredentials() {
        let url: RequestURL = "https://u:\("S3CR3T")@h/?api_key=\("S3CR3T")"
        #expect(!"\(url)".contains("S3CR3T") && !String(reflecting: url).contains("S3CR3T"))
    }
}

@Suite("Items are added to a query")
struct QueryItemTests {
    @Test func ofAnyKindOrNone() {
        var request = HTTPRequest("x")
        let none: Int? = nil
        request.addQuery("after", nil)
        request.addQuery("page", none)
        request.addQuery("page", 2)
        request.addQuery("flag")
        request.addQuery(["a": 1, "b": true, "c": nil, "d": "ü", "e": 0.5, "f": none])
        #expect(request.urlText == "x?page=2&flag&a=1&b=true&d=%C3%BC&e=0.5")
    }
}

@Suite("A request with a body says its method", .leavesNothing)
struct UnsaidMethodTests {
    @Test func orSendingItFails() async throws {
        let stub = StubTransport.ok
        let client = testClient(baseURL: "https://h", transport: stub)
        let error = await httpError { try await client.send(HTTPRequest("x", body: "text \(1)")) }
        #expect(error?.code == .invalidRequest && error?.message.contains(".post") == true && stub.requests.isEmpty)
        var said = HTTPRequest("x", body: "text")
        said.method = .put
        _ = try await client.send(said)
        _ = try await client.send(HTTPRequest("x", body: .empty))
        _ = try await client.send(HTTPRequest(.get, "x", body: "meant"))
        #expect(stub.requests.map(\.method) == [.put, .get, .get])
    }

    @Test func thatOfAnotherOfTheSameCallIsSaidForItself() async throws {
        let stub = StubTransport(sequence: [.respond(.found, headers: [.location: "/b"]), .respond(.ok)])
        var said = HTTPRequest("https://h/a", body: "text")
        said.method = .put
        said.redirects = .custom { _, _ in HTTPRequest(.get, "https://h/b", body: "meant") }
        _ = try await testClient(transport: stub).send(said)
        #expect(stub.requests.map(\.method) == [.put, .get])
    }
}

extension UUID {
    fileprivate static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

private protocol URLMaking {
    func url(_ id: Int?) -> RequestURL
}

/// Deprecated as what it does is, so that it gives no warning.
private struct OptionalInURL: URLMaking {
    @available(*, deprecated)
    func url(_ id: Int?) -> RequestURL { "users/\(id)" }
}
