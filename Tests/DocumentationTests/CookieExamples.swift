import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Cookies.md", .timeLimit(.minutes(10)))
struct CookieExamples {
    @Test("A jar and its interceptor")
    func usage() async throws {
        let stub = StubTransport(status: .ok, headers: ["Set-Cookie": "sid=1; Path=/"])
        let jar = CookieJar()
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            CookieInterceptor(jar)
        }
        for _ in 0..<2 { _ = try await client.send(HTTPRequest("users")) }
        #expect(stub.requests.map { $0.headers[.cookie] } == [nil, "sid=1"])

        let names = jar.cookies(for: "https://api.example.com/users").map(\.name)
        jar.set(try Cookie("theme", "dark", domain: "example.com", isHostOnly: false))
        jar.removeAll { $0.name == "sid" }
        jar.removeAll()
        #expect(names == ["sid"] && jar.cookies.isEmpty)
    }

    @Test("Until the next start")
    func snapshot() throws {
        let jar = CookieJar()
        jar.set(try Cookie("a", "1", domain: "example.com", expires: Date(timeIntervalSinceNow: 86_400)))
        jar.set(try Cookie("session", "1", domain: "example.com"))
        let saved = try JSONEncoder().encode(jar.snapshot())
        let restored = CookieJar(try JSONDecoder().decode([Cookie].self, from: saved))
        #expect(restored.cookies.map(\.name) == ["a"])
    }

    @Test("Public suffixes")
    func publicSuffixes() async throws {
        let publicSuffixes: Set<String> = ["co.uk"]
        let jar = CookieJar(isPublicSuffix: { publicSuffixes.contains($0) || !$0.contains(".") })
        let stub = StubTransport(status: .ok, headers: ["Set-Cookie": "a=1; Domain=co.uk"])
        let response = try await HTTPClient(transport: stub) { CookieInterceptor(jar) }.send(HTTPRequest("https://a.co.uk/"))
        #expect(jar.cookies.isEmpty)
        #expect("\(response.trace)".contains("ignored a: its Domain is a public suffix"))
    }

    @Test("What is seen of them")
    func visibility() async throws {
        var headers: HTTPHeaders = ["Set-Cookie": "sid=1"]
        headers.add(.setCookie, "id=1; Domain=example.org")
        let jar = CookieJar()
        for name in ["sid", "theme"] { jar.set(try Cookie(name, "1", domain: "a.example.com")) }
        let client = HTTPClient(transport: StubTransport(status: .ok, headers: headers)) { CookieInterceptor(jar) }
        let request = HTTPRequest("https://a.example.com/")
        let page = try MarkdownPage(path: "Documentation/Cookies.md").lines().joined(separator: "\n")
        for (text, shown) in [
            ("adds sid, theme", "\(try await client.explain(request))"),
            ("stored sid, ignored id: its Domain isn't its host's", "\(try await client.send(request).trace)"),
        ] {
            #expect(page.contains("`\(text)`"))
            #expect(shown.contains(text))
        }
    }

    @Test("The limits are those of the table")
    func limits() async throws {
        let jar = CookieJar()
        for host in 0..<61 {
            for number in 0..<60 { jar.set(try Cookie("c\(number)", "", domain: "h\(host).example.com")) }
        }
        let ofOneDomain = Dictionary(grouping: jar.cookies, by: \.domain).values.map(\.count).max() ?? 0
        let lines = try MarkdownPage(path: "Documentation/Cookies.md").lines()
        #expect(lines.contains("| cookies in all | \(jar.cookies.count) |"))
        #expect(lines.contains("| cookies of one domain | \(ofOneDomain) |"))
        #expect(lines.contains("| stage | `.\(CookieInterceptor().stage)` |"))

        let size = try #require((1...8192).last { (try? Cookie("a", String(repeating: "x", count: $0 - 1), domain: "h")) != nil })
        #expect(lines.contains("| name and value together | \(size) bytes |"))

        let now = Date()
        let own = CookieJar(now: { now })
        var headers = HTTPHeaders()
        headers.add(.setCookie, "a=1; Max-Age=999999999")
        headers.add(.setCookie, "a=1; Path=/\(String(repeating: "x", count: 1023))")
        headers.add(.setCookie, "a=1; Path=/\(String(repeating: "y", count: 1024))")
        let client = HTTPClient(transport: StubTransport(status: .ok, headers: headers)) { CookieInterceptor(own) }
        _ = try await client.send(HTTPRequest("https://h/"))
        // The path that is too long is passed over, so the third replaces the first.
        #expect(own.cookies.map(\.path.count) == [1, 1024])
        #expect(lines.contains("| an attribute | \(own.cookies.map(\.path.count).max() ?? 0) bytes |"))
        headers = ["Set-Cookie": "b=1; Max-Age=999999999"]
        _ = try await HTTPClient(transport: StubTransport(status: .ok, headers: headers)) { CookieInterceptor(own) }
            .send(HTTPRequest("https://h/"))
        let days = (own.cookies.last?.expires?.timeIntervalSince(now) ?? 0) / 86_400
        #expect(lines.contains("| life, if set by a server | \(Int(days)) days |"))
    }
}
