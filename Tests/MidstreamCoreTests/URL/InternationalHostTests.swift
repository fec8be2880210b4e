@testable import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Hosts outside of ASCII (UTS 46)", .leavesNothing)
struct InternationalHostTests {
    @Test(
        "become labels in ASCII when the URL is resolved",
        arguments: [
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://BÜCHER.Example:81/ü", "http://xn--bcher-kva.example:81/%C3%BC"),
            ("https://u:p@faß.de/", "https://u:p@xn--fa-hia.de/"),
            ("https://straße", "https://xn--strae-oqa"),
            ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
            ("http://例え。テスト?q", "http://xn--r8jz45g.xn--zckzah?q"),
            ("http://ü.", "http://xn--tda."), ("http://ς.example/", "http://xn--3xa.example/"),
            ("http://a\u{308}.example/", "http://xn--4ca.example/"),
            ("http://bü_cher.example/", "http://xn--b_cher-3ya.example/"),
            ("http://ｅxample.com/", "http://example.com/"), ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
        ])
    func mapped(url: String, expected: String) throws {
        #expect(try URLText.resolve(url, base: nil, query: nil) == expected)
        #expect(try URLText.resolve("", base: url, query: "").hasPrefix(expected))
        #expect(URLText.resolve(location: url, from: "https://h/") == URLText.resolve(location: expected, from: "https://h/"))
        #expect(HTTPOrigin(url) == HTTPOrigin(expected) && HTTPOrigin(url) != nil)
    }

    @Test(
        "are refused when they can't be one",
        arguments: [
            "ü..example", "-ü.example", "xn--ü.example", "\u{200D}a.example", "\u{FFFD}.example", "ü／x.example", "％41.example",
            "ü%41.example", "ü,x.example", "℀x.example", "\u{0663}\u{05D0}.example", "ü\u{2024}.example",
            String(repeating: "ü", count: 70), String(repeating: "ü.", count: 5_000), "ü~", "ü[", "ü]", "ü ",
        ])
    func refused(host: String) async {
        let error = await httpError { try await testClient(transport: StubTransport.ok).send(HTTPRequest("http://\(host)/")) }
        #expect(error?.code == .invalidRequest)
        #expect(URLText.resolve(location: "http://\(host)/", from: "http://h/") == nil)
        #expect(HTTPOrigin("http://\(host)/") == nil || host.utf8.contains(UInt8(ascii: " ")))
    }

    @Test("are refused in percent-encoding", arguments: ["%65xample.com", "a%2Eexample", "a%E3%80%82example", "a%"])
    func percentEncoded(host: String) async {
        let client = testClient(baseURL: "http://h", transport: StubTransport.ok)
        let error = await httpError { try await client.send(HTTPRequest("http://\(host)/")) }
        #expect(error?.code == .invalidRequest)
        #expect(URLText.resolve(location: "http://\(host)/", from: "http://h/") == nil)
    }

    @Test("a name of more than 253 bytes is refused, the root's dot left out")
    func length() {
        let longest = String(repeating: "a.", count: 126) + "a"
        for (host, isHost) in [(longest, true), (longest + ".", true), (longest + "a", false), (longest + "a.", false)] {
            #expect(((try? URLText.resolve("http://\(host)/", base: nil, query: nil)) != nil) == isHost)
            #expect(((try? URLText.resolve("HTTP://\(host)/", base: nil, query: nil)) != nil) == isHost)
            #expect(((try? URLText.resolve("/", base: "http://\(host)", query: nil)) != nil) == isHost)
            #expect((URLText.resolve(location: "http://\(host)", from: "http://h") != nil) == isHost)
        }
    }
}
