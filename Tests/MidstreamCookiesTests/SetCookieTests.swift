import Foundation
@testable import MidstreamCookies
import MidstreamCore
import Testing

@Suite("What a Set-Cookie makes (RFC 6265 §5.2 and §5.3)")
struct SetCookieTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func jar(isPublicSuffix: @escaping @Sendable (String) -> Bool = { !$0.contains(".") }) -> CookieJar {
        CookieJar(isPublicSuffix: isPublicSuffix, now: { Self.now })
    }

    /// The cookie that a line sets, if it sets one.
    private func cookie(_ line: String, from url: String = "https://www.example.com/a/b") -> Cookie? {
        let jar = jar()
        _ = jar.store([line], from: url)
        return jar.cookies.first
    }

    @Test(
        "names and values",
        arguments: [
            ("a=b", "a", "b"), ("a=", "a", ""), (" a = b ; Path=/", "a", "b"), ("\ta\t=\tb\t", "a", "b"),
            ("a=b=c==", "a", "b=c=="),
            ("a=\"b c\"", "a", "\"b c\""), ("a=b, c=d", "a", "b, c=d"), ("a=b\tc", "a", "b\tc"), ("ä=ö", "ä", "ö"),
            ("a=b;", "a", "b"),
            ("a=b;;;=;=x; ; Nothing", "a", "b"), ("a b=c", "a b", "c"), ("$Version=1", "$Version", "1"),
        ])
    func pairs(line: String, name: String, value: String) {
        #expect(cookie(line)?.name == name)
        #expect(cookie(line)?.value == value)
    }

    @Test("attributes")
    func attributes() throws {
        let plain = try #require(cookie("a=b"))
        #expect(plain.domain == "www.example.com" && plain.isHostOnly && plain.path == "/a" && plain.expires == nil)
        #expect(!plain.isSecure && !plain.isHTTPOnly)
        let full = try #require(
            cookie("a=b; DOMAIN=.Example.com; PATH=/x; SECURE; HTTPONLY; Max-age=60; SameSite=Lax; Partitioned; Priority=High"))
        #expect(full.domain == "example.com" && !full.isHostOnly && full.path == "/x" && full.isSecure && full.isHTTPOnly)
        #expect(full.expires == Self.now.addingTimeInterval(60))
        #expect(cookie("a=b; Secure=no; HttpOnly=")?.isSecure == true)
        #expect(cookie("a=b; Secure=no; HttpOnly=")?.isHTTPOnly == true)
    }

    @Test(
        "paths",
        arguments: [
            ("a=b; Path=/", "/"), ("a=b; Path=/x/", "/x/"), ("a=b; Path=x", "/a"), ("a=b; Path=", "/a"), ("a=b; Path", "/a"),
            ("a=b; Path=/x; Path=/y", "/y"), ("a=b; Path=/x; Path=y", "/a"), ("a=b; Path = /x ", "/x"),
            ("a=b; Path=\"/x\"", "/a"),
        ])
    func paths(line: String, path: String) {
        #expect(cookie(line)?.path == path)
    }

    @Test("an attribute that is too long is passed over")
    func longAttributes() {
        #expect(cookie("a=b; Path=/\(String(repeating: "x", count: 1023))")?.path.count == 1024)
        #expect(cookie("a=b; Path=/\(String(repeating: "x", count: 1024))")?.path == "/a")
    }

    @Test(
        "the end",
        arguments: [
            ("a=b; Max-Age=10", 10), ("a=b; Max-Age=10; Expires=Wed, 15 Nov 2023 22:13:20 GMT", 10),
            ("a=b; Expires=Wed, 15 Nov 2023 22:13:20 GMT; Max-Age=10", 10),
            ("a=b; Expires=Wed, 15 Nov 2023 22:13:20 GMT", 86_400),
            ("a=b; Max-Age=1; Max-Age=2", 2), ("a=b; Max-Age=1; Max-Age=x", 1), ("a=b; Max-Age=", nil), ("a=b; Max-Age", nil),
            ("a=b; Max-Age=1.5", nil), ("a=b; Max-Age=+1", nil), ("a=b; Max-Age=-", nil), ("a=b; Max-Age=x1", nil),
            ("a=b; Max-Age=1e3", nil), ("a=b; Max-Age=x; Expires=Wed, 15 Nov 2023 22:13:20 GMT", 86_400),
            ("a=b; Expires=soon", nil),
            ("a=b; Max-Age=34560000", 34_560_000), ("a=b; Max-Age=34560001", 34_560_000),
            ("a=b; Max-Age=99999999999999999999999999", 34_560_000), ("a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT", 34_560_000),
        ] as [(String, TimeInterval?)])
    func ends(line: String, seconds: TimeInterval?) throws {
        let ending = try #require(cookie(line))
        #expect(ending.expires?.timeIntervalSince(Self.now) == seconds)
    }

    @Test(
        "an end in the past removes",
        arguments: [
            "a=; Max-Age=0", "a=; Max-Age=-1", "a=; Max-Age=-99999999999999999999999",
            "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "a=; Max-Age=0; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "a=; Expires=Tue, 14 Nov 2023 22:13:20 GMT",
        ])
    func removals(line: String) {
        let jar = jar()
        _ = jar.store(["a=1", "b=2", "a=3; Path=/other"], from: "https://example.com/")
        #expect(jar.store([line], from: "https://example.com/") == [.removed("a")])
        #expect(jar.cookies.map(\.value) == ["2", "3"])
    }

    @Test(
        "is ignored",
        arguments: [
            ("", .noName), (";", .noName), ("token", .noName), ("token; Path=/", .noName), ("=b", .noName), (" =b", .noName),
            ("a;b=c", .noName),
            ("a=b\u{0}c", .controlCharacter), ("a=b; Path=/\u{1}", .controlCharacter), ("a=b\u{7f}", .controlCharacter),
            ("a\u{1f}=b", .controlCharacter), ("a=b; Domain=other.com", .foreignDomain),
            ("a=b; Domain=a.www.example.com", .foreignDomain),
            ("a=b; Domain=ample.com", .foreignDomain), ("a=b; Domain=..example.com", .foreignDomain),
            ("a=b; Domain=exämple.com", .foreignDomain), ("a=b; Domain=com", .publicSuffix), ("a=b; Domain=.com", .publicSuffix),
            ("__Secure-a=b", .prefix), ("__Host-a=b; Path=/", .prefix),
            ("__Host-a=b; Secure; Path=/; Domain=www.example.com", .prefix),
            ("__Host-a=b; Secure; Path=/x", .prefix), ("__Host-a=b; Secure", .prefix), ("__sEcUrE-a=b", .prefix),
            ("__hOsT-a=b; Secure; Path=/x", .prefix), ("__Secure-\u{301}=b", .prefix),
        ] as [(String, CookieRefusal)])
    func refusals(line: String, reason: CookieRefusal) throws {
        let jar = jar()
        let outcomes = jar.store([line], from: "https://www.example.com/")
        guard case .refused(let name, reason) = try #require(outcomes.first) else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(name == nil || line.hasPrefix("\(name ?? "")="))
        #expect(jar.cookies.isEmpty)
    }

    @Test(
        "prefixes that are kept to",
        arguments: [
            "__Secure-a=b; Secure", "__Secure-a=b; Secure; Domain=example.com; Path=/x", "__Host-a=b; Secure; Path=/",
            "__host-a=b; Path=/; Secure", "__Other-a=b", "__Secure=b", "x__Host-a=b",
        ])
    func prefixes(line: String) {
        #expect(cookie(line) != nil)
    }

    @Test("4096 bytes and no more")
    func size() {
        #expect(cookie("ab=\(String(repeating: "x", count: 4094)); Path=/; HttpOnly")?.value.count == 4094)
        let jar = jar()
        let line = "ab=\(String(repeating: "x", count: 4095))"
        #expect(jar.store([line], from: "https://example.com/") == [.refused(nil, .tooLarge)])
        #expect(cookie("ab=\(String(repeating: "ü", count: 2048))") == nil)
    }

    @Test(
        "Secure is for https and this machine",
        arguments: [
            ("https://example.com/", true), ("http://example.com/", false), ("http://localhost:8080/", true),
            ("http://127.0.0.1/", true),
            ("http://[::1]/", true), ("http://10.0.0.1/", false),
        ])
    func secure(url: String, isKept: Bool) {
        #expect(jar().store(["a=b; Secure"], from: url) == [isKept ? .stored("a") : .refused("a", .insecure)])
    }

    @Test("what came by http hides nothing that is Secure")
    func secureIsLeftAlone() {
        let jar = jar()
        _ = jar.store(["a=1; Secure; Domain=example.com; Path=/x"], from: "https://www.example.com/")
        let refused: [CookieJar.Outcome] = [.refused("a", .hidesSecure)]
        #expect(jar.store(["a=2; Domain=example.com; Path=/x"], from: "http://example.com/") == refused)
        #expect(jar.store(["a=2; Path=/x/y"], from: "http://www.example.com/") == refused)
        #expect(jar.store(["a=; Max-Age=0; Domain=example.com; Path=/x"], from: "http://example.com/") == refused)
        #expect(jar.store(["a=2; Path=/"], from: "http://www.example.com/") == [.stored("a")])
        #expect(jar.store(["a=2; Path=/x"], from: "http://other.com/") == [.stored("a")])
        #expect(jar.store(["b=2; Path=/x"], from: "http://example.com/") == [.stored("b")])
        #expect(jar.store(["a=3; Domain=example.com; Path=/x"], from: "https://example.com/") == [.stored("a")])
        #expect(jar.cookies(for: "https://www.example.com/x").map(\.value) == ["3", "2"])
    }

    @Test(
        "a Domain that is exactly the host, where it can have nothing below it",
        arguments: [
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "0.0.1", false), ("10.0.1", "0.1", false),
            ("localhost", "localhost", true),
            ("[::1]", "[::1]", true), ("[::1]", "::1", false), ("a.localhost", "localhost", false), ("com.", "com.", true),
            ("example.com.", "com.", false), ("example.com.", "com", false), ("2130706433", "2130706433", true),
            ("intranet", "intranet", true), ("wiki.intranet", "intranet", false),
        ])
    func exactHosts(host: String, domain: String, isKept: Bool) {
        let jar = jar()
        _ = jar.store(["a=b; Domain=\(domain)"], from: "https://\(host)/")
        #expect(jar.cookies.count == (isKept ? 1 : 0))
        #expect(jar.cookies.allSatisfy { $0.isHostOnly && $0.domain == host })
    }

    @Test("a Domain that the caller's list knows to be public")
    func publicSuffixes() {
        let jar = jar { ["uk", "co.uk"].contains($0) }
        let from = "https://www.example.co.uk/"
        #expect(jar.store(["a=1; Domain=co.uk"], from: from) == [.refused("a", .publicSuffix)])
        #expect(jar.store(["a=1; Domain=co.uk."], from: "https://example.co.uk./") == [.refused("a", .publicSuffix)])
        #expect(jar.store(["a=1; Domain=example.co.uk"], from: from) == [.stored("a")])
        #expect(jar.store(["a=1; Domain=co.uk"], from: "https://co.uk/") == [.stored("a")])
        #expect(jar.cookies.map(\.isHostOnly) == [false, true])
    }

    @Test("Public suffixes are those of the system's list; without one, names without a dot; or what the caller says")
    func suffixesOfTheSystem() {
        #expect((PublicSuffixList(library: "libpsl.so.none") == nil))
        let own = CookieJar(isPublicSuffix: { $0 == "b.example" })
        #expect(own.knowsPublicSuffixes)
        #expect(own.store(["a=1; Domain=b.example"], from: "https://a.b.example/") == [.refused("a", .publicSuffix)])
        let jar = CookieJar()
        #expect(jar.knowsPublicSuffixes == (PublicSuffixList.system != nil))
        #expect(jar.store(["a=1; Domain=uk"], from: "https://a.co.uk/") == [.refused("a", .publicSuffix)])
        #expect(jar.store(["a=1; Domain=a.co.uk"], from: "https://b.a.co.uk/") == [.stored("a")])
        guard jar.knowsPublicSuffixes else { return }
        for (domain, host) in [("co.uk", "a.co.uk"), ("co.uk.", "a.co.uk."), ("github.io", "a.github.io"), ("a.ck", "b.a.ck")] {
            #expect(jar.store(["a=1; Domain=\(domain)"], from: "https://\(host)/") == [.refused("a", .publicSuffix)], "\(domain)")
        }
        for (domain, host) in [("www.ck", "a.www.ck"), ("example.com", "www.example.com"), ("a.unheardof", "b.a.unheardof")] {
            #expect(jar.store(["a=1; Domain=\(domain)"], from: "https://\(host)/") == [.stored("a")], "\(domain)")
        }
    }
}
