@testable import MidstreamCookies
import MidstreamCore
import Testing

@Suite("Which URL a cookie belongs to (RFC 6265 §5.1)")
struct CookieMatchingTests {
    @Test(
        "domain-match",
        arguments: [
            ("example.com", "example.com", true), ("www.example.com", "example.com", true),
            ("a.b.example.com", "example.com", true),
            ("example.com", "www.example.com", false), ("notexample.com", "example.com", false), ("example.com", "com", true),
            ("example.com.evil.org", "example.com", false), ("example.com", "", false), ("example.com", ".example.com", false),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "0.0.1", false), ("127.0.0.1", "1", false), ("10.0.1", "0.1", false),
            ("127.0.0.0x1", "0x1", false), ("[::1]", "[::1]", true), ("[::ffff:1.2.3.4]", "3.4]", false), ("a.1b", "1b", true),
        ])
    func domains(host: String, domain: String, matches: Bool) {
        #expect(CookieDomain.host(host, isWithin: domain) == matches)
        #expect(CookieDomain.names(from: host).contains(domain) == matches)
    }

    @Test(
        "path-match",
        arguments: [
            ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/", "/a", true), ("/a/b", "/a", true),
            ("/a/b", "/a/", true),
            ("/a", "/a/", false), ("/ab", "/a", false), ("/", "/a", false), ("/A", "/a", false), ("/a/b", "/b", false),
            ("/a%2Fb", "/a", false), ("", "/", true),
        ])
    func paths(path: String, cookiePath: String, matches: Bool) throws {
        #expect(try #require(CookieTarget("http://h\(path)?/a/b#/a/b")).isWithin(path: cookiePath) == matches)
    }

    @Test(
        "default-path",
        arguments: [
            ("", "/"), ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/", "/a/b"), ("//", "/"), ("/a;x/b", "/a;x"),
            ("/\u{301}/b", "/\u{301}"), ("/\u{301}", "/"),
        ])
    func defaultPaths(path: String, expected: String) throws {
        #expect(try #require(CookieTarget("https://h\(path)?q=/x/y")).defaultPath == expected)
    }

    @Test(
        "the host of a URL, and whether it is safe",
        arguments: [
            ("https://Example.COM:8443/", "example.com", true), ("http://example.com", "example.com", false),
            ("HTTPS://u:p@example.com/", "example.com", true), ("http://localhost:80/", "localhost", true),
            ("http://a.localhost/", "a.localhost", true), ("http://notlocalhost/", "notlocalhost", false),
            ("http://localhost.example.com/", "localhost.example.com", false), ("http://127.0.0.1:1/", "127.0.0.1", true),
            ("http://127.8.9.10/", "127.8.9.10", true), ("http://127.0.0.1.example.com/", "127.0.0.1.example.com", false),
            ("http://128.0.0.1/", "128.0.0.1", false), ("http://[::1]:8080/", "[::1]", true), ("http://[::2]/", "[::2]", false),
            ("http://.localhost/", ".localhost", true), ("http://127.1/", "127.1", true),
        ])
    func targets(url: String, host: String, isSecure: Bool) throws {
        let target = try #require(CookieTarget(url))
        #expect(target.host == host)
        #expect(target.isSecure == isSecure)
    }

    @Test("a host of tens of thousands of labels isn't one, and no cookie is looked for")
    func endlessHost() {
        let jar = CookieJar()
        _ = jar.store(["a=b; Domain=a.a"], from: "http://a.a/")
        let url = "http://" + String(repeating: "a.", count: 49_000) + "a.a/"
        #expect(jar.take(for: url).isEmpty && jar.store(["c=d"], from: url).isEmpty)
        #expect(URLText.resolve(location: url, from: "http://a.a/") == nil)
    }

    @Test("is no URL of HTTP", arguments: ["", "/a", "ftp://h/", "//h/", "http://", "http:///a", "mailto:a@b"])
    func noTargets(url: String) {
        #expect(CookieTarget(url) == nil)
        #expect(CookieJar().cookies(for: url).isEmpty)
    }

    @Test("hosts outside of ASCII are the same as their labels in ASCII")
    func internationalHosts() throws {
        let jar = CookieJar()
        _ = jar.store(["a=b"], from: "https://bücher.example/")
        #expect(jar.cookies(for: "https://xn--bcher-kva.example/").map(\.name) == ["a"])
        #expect(try #require(CookieTarget("https://BÜCHER.example")).host == "xn--bcher-kva.example")
        #expect(CookieTarget("http://ü,x.example/") == nil)
        #expect(throws: HTTPError.self) { try Cookie("b", "1", domain: "ü,x.example") }
        jar.set(try Cookie("c", "1", domain: ".BÜCHER.example"))
        #expect(Set(jar.cookies(for: "https://bücher.example/").map(\.name)) == ["a", "c"])
    }
}
