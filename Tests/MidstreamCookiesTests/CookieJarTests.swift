import Foundation
import Interception
@testable import MidstreamCookies
import MidstreamCore
import TestSupport
import Testing

@Suite("A jar of cookies", .leavesNothing)
struct CookieJarTests {
    /// A clock that stands still unless it is told otherwise.
    private final class Hours: Sendable {
        private let passed = Locked(0.0)
        var now: Date { Date(timeIntervalSince1970: 1_700_000_000 + passed.withLock { $0 }) }
        func pass(_ seconds: TimeInterval) { passed.withLock { $0 += seconds } }
    }

    private let url = "https://www.example.com/a/b"

    private func names(_ jar: CookieJar, _ url: String? = nil) -> [String] { jar.cookies(for: url ?? self.url).map(\.name) }

    @Test(
        "who gets which",
        arguments: [
            ("https://www.example.com/a/b", ["path", "host", "domain", "secure"]),
            ("https://www.example.com/a", ["path", "host", "domain", "secure"]),
            ("https://www.example.com/ab", ["host", "domain", "secure"]),
            ("http://www.example.com:81/", ["host", "domain"]),
            ("https://example.com/a", ["domain", "secure"]),
            ("http://deep.www.example.com/a", ["domain"]),
            ("https://example.org/", []),
            ("https://notexample.com/", []),
        ])
    func matching(url: String, names: [String]) {
        let jar = CookieJar()
        _ = jar.store(
            [
                "host=1; Path=/", "domain=2; Domain=example.com; Path=/", "path=3; Path=/a",
                "secure=4; Secure; Path=/; Domain=example.com",
            ],
            from: self.url)
        #expect(self.names(jar, url) == names)
    }

    @Test("longer paths first, then the older ones")
    func order() {
        let jar = CookieJar()
        let lines = [
            "a=1; Path=/", "b=1; Path=/a/b", "c=1; Path=/a", "d=1; Path=/; Domain=example.com", "e=1; Path=/a", "f=1; Path=/",
        ]
        for line in lines { _ = jar.store([line], from: url) }
        #expect(names(jar) == ["b", "c", "e", "a", "d", "f"])
    }

    @Test("an overwritten one keeps its age, and one that was removed doesn't")
    func overwriting() {
        let jar = CookieJar()
        _ = jar.store(["a=1", "b=1", "c=1"], from: url)
        _ = jar.store(["b=2; Secure", "a=2"], from: url)
        #expect(names(jar) == ["a", "b", "c"])
        #expect(jar.cookies.map(\.value) == ["2", "2", "1"])
        #expect(jar.cookies.map(\.isSecure) == [false, true, false])
        _ = jar.store(["a=; Max-Age=0", "a=3"], from: url)
        #expect(names(jar) == ["b", "c", "a"])
    }

    @Test("name, domain and path tell cookies apart")
    func keys() {
        let jar = CookieJar()
        _ = jar.store(["a=1", "A=2", "a=3; Path=/", "a=4; Domain=example.com", "a=5; Domain=www.example.com"], from: url)
        #expect(jar.cookies.map(\.value) == ["1", "2", "3", "4", "5"])
    }

    @Test("they end when their time is over")
    func expiry() {
        let hours = Hours()
        let jar = CookieJar(now: { hours.now })
        _ = jar.store(["a=1; Max-Age=10", "b=1; Max-Age=20", "c=1"], from: url)
        hours.pass(9)
        #expect(names(jar) == ["a", "b", "c"])
        hours.pass(1)
        #expect(names(jar) == ["b", "c"])
        #expect(jar.cookies.map(\.name) == ["b", "c"])
        hours.pass(86_400 * 1000)
        #expect(names(jar) == ["c"])
        #expect(jar.snapshot(includingSessionCookies: true).map(\.name) == ["c"])
    }

    @Test("50 of one domain: expired ones go first, then those not used for the longest time")
    func roomOfADomain() {
        let hours = Hours()
        let jar = CookieJar(now: { hours.now })
        _ = jar.store((0..<50).map { "c\($0)=1; Path=/\($0); Max-Age=\($0 == 30 ? 1 : 100)" }, from: url)
        #expect(jar.cookies.count == 50)
        #expect(jar.take(for: "https://www.example.com/0").map(\.name) == ["c0"])
        #expect(jar.cookies(for: "https://www.example.com/2").map(\.name) == ["c2"])
        _ = jar.store(["c1=2; Path=/1; Max-Age=100"], from: url)
        hours.pass(2)
        _ = jar.store(["new=1"], from: url)
        #expect(jar.cookies.count == 50)
        #expect(Set(jar.cookies.map(\.name)).isSuperset(of: ["c0", "c1", "c2", "new"]))
        _ = jar.store(["newer=1"], from: url)
        #expect(jar.cookies.count == 50)
        #expect(!jar.cookies.map(\.name).contains("c2"), "A look at the jar is no use of it.")
        #expect(Set(jar.cookies.map(\.name)).isSuperset(of: ["c0", "c1", "c3", "new", "newer"]))
        _ = jar.store(["other=1"], from: "https://example.com/")
        #expect(jar.cookies.count == 51)
    }

    @Test("3000 in all: expired ones go first, then those not used for the longest time")
    func roomOfTheJar() {
        let hours = Hours()
        let jar = CookieJar(now: { hours.now })
        for host in 0..<60 { _ = jar.store((0..<50).map { "c\($0)=1; Max-Age=100" }, from: "https://h\(host).example.com/") }
        #expect(jar.cookies.count == 3000)
        _ = jar.take(for: "https://h0.example.com/")
        _ = jar.store(["new=1"], from: "https://other.com/")
        #expect(jar.cookies.count == 3000)
        #expect(jar.cookies(for: "https://h0.example.com/").count == 50)
        #expect(jar.cookies(for: "https://h1.example.com/").map(\.name) == (1..<50).map { "c\($0)" })
        hours.pass(100)
        _ = jar.store(["newer=1"], from: "https://other.com/")
        #expect(jar.cookies.map(\.name) == ["new", "newer"])
        for host in 0..<2990 { _ = jar.store(["c=1"], from: "https://h\(host).example.com/") }
        #expect(jar.cookies.count == 2992)
        #expect(jar.cookies.prefix(2).map(\.name) == ["new", "newer"], "What had expired took no room.")
    }

    @Test("What came by http takes no room from what is Secure", arguments: [50, 3000])
    func roomOfSecureCookies(limit: Int) {
        let hours = Hours()
        let jar = CookieJar(now: { hours.now })
        // With the limit of the domain, or of the whole jar, reached by Secure ones.
        let hosts = (0..<limit / 50).map { "h\($0).example.com" }
        for host in hosts {
            let fields = (0..<49).map { "c\($0)=1; Secure; Max-Age=100" } + ["__Host-sid=1; Secure; HttpOnly; Path=/; Max-Age=50"]
            #expect(jar.store(fields, from: "https://\(host)/").count == 50)
        }
        let kept = jar.cookies
        let (host, other) = (hosts[0], limit == 50 ? hosts[0] : "other.com")
        let fillers = jar.store((0..<50).map { "f\($0)=1" } + ["sid=1"], from: "http://\(other)/")
        #expect(fillers.allSatisfy { if case .refused(_, .noRoom) = $0 { true } else { false } })
        #expect(jar.cookies == kept)
        // Another Secure one may, and takes the place of the one that wasn't used for the longest time.
        #expect(jar.store(["new=1; Secure"], from: "https://\(host)/") == [.stored("new")])
        #expect(jar.cookies.count == limit && jar.cookies.first?.name == "c1")
        // Expired ones go first, Secure or not.
        hours.pass(50)
        #expect(jar.store(["f=1"], from: "http://\(other)/") == [.stored("f")])
        #expect(jar.cookies.filter { $0.name == "__Host-sid" }.isEmpty && jar.cookies.contains { $0.name == "c1" })
    }

    @Test("One that isn't Secure gives way before a Secure one, though it was used later")
    func openOnesGoFirst() {
        let jar = CookieJar()
        _ = jar.store(["sid=1; Secure"] + (0..<49).map { "c\($0)=1" }, from: url)
        _ = jar.store(["new=1; Secure"], from: url)
        #expect(jar.cookies.map(\.name) == ["sid"] + (1..<49).map { "c\($0)" } + ["new"])
    }

    @Test("An expired Secure cookie is in nobody's way")
    func expiredSecureCookie() {
        let hours = Hours()
        let jar = CookieJar(now: { hours.now })
        _ = jar.store(["a=1; Secure; Max-Age=3600"], from: url)
        #expect(jar.store(["a=2"], from: "http://www.example.com/a/b") == [.refused("a", .hidesSecure)])
        hours.pass(3600)
        #expect(jar.store(["a=2"], from: "http://www.example.com/a/b") == [.stored("a")])
    }

    @Test("what a server sends can be written down and read again")
    func snapshots() throws {
        let jar = CookieJar(now: { Date(timeIntervalSince1970: 1_700_000_000) })
        _ = jar.store(
            [
                "s=1", "a=\"x y\"; Max-Age=9; Domain=example.com; HttpOnly", "ä=\t€\tö; Max-Age=9; Path=/ü", "b==; Max-Age=1",
                "a=2; Max-Age=9",
            ],
            from: url)
        for host in ["h;,!$&'()*+=%41", "[::1]", "127.0.0.1", "bücher.de", "a..b", "localhost"] {
            #expect(jar.store(["c=1; Secure; Max-Age=5"], from: "https://\(host)/p;q=1/r") == [.stored("c")])
        }
        let kept = jar.snapshot()
        #expect(kept.count == 10 && !kept.contains { $0.name == "s" })
        #expect(jar.snapshot(includingSessionCookies: true) == jar.cookies)
        let read = try JSONDecoder().decode([Cookie].self, from: try JSONEncoder().encode(kept))
        #expect(read == kept)
        let restored = CookieJar(read, now: { Date(timeIntervalSince1970: 1_700_000_001) })
        #expect(restored.cookies == kept.filter { $0.name != "b" })
    }

    @Test(
        "a file that holds no cookie is refused, not trusted",
        arguments: [
            #""name":"a;b","value":"S","domain":"h""#, #""name":"","value":"S","domain":"h""#,
            #""name":"a","value":"S\r\nX: y","domain":"h""#, #""name":"a","value":"S","domain":"""#,
            #""name":"__Secure-a","value":"S","domain":"h""#, #""name":"a","domain":"h""#,
            #""name":"a","value":"S","domain":"H""#, #""name":"a","value":"S","domain":"ü,x.example""#,
        ])
    func badFiles(fields: String) {
        let text = #"[{\#(fields),"isHostOnly":true,"path":"/","isSecure":false,"isHTTPOnly":false}]"#
        let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode([Cookie].self, from: Data(text.utf8)) }
        if case .dataCorrupted(let context)? = error { #expect(!context.debugDescription.contains("S")) }
    }

    @Test("a file's domain is known by its labels in ASCII, too")
    func internationalFile() throws {
        let text =
            #"[{"name":"a","value":"1","domain":"bücher.example","isHostOnly":true,"path":"/","isSecure":false,"isHTTPOnly":false}]"#
        let jar = CookieJar(try JSONDecoder().decode([Cookie].self, from: Data(text.utf8)))
        #expect(jar.cookies(for: "https://bücher.example/").map(\.name) == ["a"])
    }

    @Test("the caller's own cookies")
    func setting() throws {
        let hours = Hours()
        let jar = CookieJar(now: { hours.now })
        let cookie = try Cookie(
            "a", "1", domain: ".Example.COM", isHostOnly: false, expires: hours.now.addingTimeInterval(86_400 * 500))
        #expect(cookie.domain == "example.com" && cookie.path == "/")
        jar.set(cookie)
        jar.set(try Cookie("b", "1", domain: "www.example.com", isSecure: true, isHTTPOnly: true))
        #expect(jar.cookies.first == cookie)
        #expect(names(jar) == ["a", "b"])
        #expect(names(jar, "http://www.example.com/") == ["a"])
        jar.set(try Cookie("a", "2", domain: "example.com", isHostOnly: false))
        jar.remove(cookie)
        #expect(names(jar) == ["a", "b"], "It isn't that cookie any more.")
        jar.set(try Cookie("a", "", domain: "example.com", isHostOnly: false, expires: .distantPast))
        #expect(names(jar) == ["b"])
        jar.set(cookie)
        jar.removeAll { $0.isSecure && !jar.cookies.isEmpty }
        #expect(names(jar) == ["a"])
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test(
        "the caller's mistakes are errors",
        arguments: [
            ("", "v", "h", "/"), ("a=b", "v", "h", "/"), ("a;b", "v", "h", "/"), ("a\n", "v", "h", "/"), (" a", "v", "h", "/"),
            ("a", "SECRET;", "h", "/"), ("a", "SECRET\r\nX: y", "h", "/"), ("a", "SECRET\u{0}", "h", "/"),
            ("a", "SECRET ", "h", "/"),
            ("a", "SECRET\u{7f}", "h", "/"), ("a", "v", "", "/"), ("a", "v", "h/", "/"), ("a", "v", "h:80", "/"),
            ("a", "v", "https://h", "/"),
            ("a", "v", "..h", "/"), ("a", "v", "h h", "/"), ("a", "v", "h", ""), ("a", "v", "h", "x"), ("a", "v", "h", "/\n"),
            ("__Secure-a", "v", "h", "/"), ("__Host-a", "v", "h", "/"), ("a", String(repeating: "SECRET", count: 683), "h", "/"),
        ])
    func mistakes(name: String, value: String, domain: String, path: String) {
        let error = #expect(throws: HTTPError.self) { try Cookie(name, value, domain: domain, path: path) }
        #expect(error?.code == .invalidRequest && error?.phase == .notSent)
        #expect(error.map { !"\($0)".contains("SECRET") } == true)
    }

    @Test("values are shown nowhere")
    func secrecy() throws {
        let jar = CookieJar()
        _ = jar.store(["sid=s3cret; Path=/; Domain=example.com; Secure; HttpOnly; Max-Age=60"], from: url)
        let cookie = try #require(jar.cookies.first)
        var shown = "\(cookie) \(String(reflecting: cookie)) \(jar) \(jar.cookies) \(CookieInterceptor(jar))"
        dump(cookie, to: &shown)
        dump(jar, to: &shown)
        dump(CookieInterceptor(jar), to: &shown)
        #expect(!shown.contains("s3cret"))
        #expect(shown.contains("sid=‹withheld›; Path=/; Domain=example.com; Expires="))
    }

    @Test("many tasks at once")
    func concurrency() async {
        let jar = CookieJar()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<50 {
                        _ = jar.store(
                            ["t\(task)=\(round)", "shared=\(task)", "x\(task)-\(round)=1; Path=/x"], from: "https://h/")
                        #expect(jar.take(for: "https://h/").contains { $0.name == "shared" })
                        #expect(jar.cookies.count <= 50)
                    }
                }
            }
        }
        #expect(jar.cookies.filter { $0.name.hasPrefix("t") }.allSatisfy { $0.value == "49" })
        #expect(jar.cookies.count == 50)
    }
}
