import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("What is known about each key of a scope", .leavesNothing, .timeLimit(.minutes(10)))
struct ScopeTableTests {
    private final class Named: Sendable {
        let key: String
        init(_ key: String) { self.key = key }
    }

    private func table(_ scope: ResilienceScope, maximum: Int = 1_000) -> ScopeTable<Named> {
        ScopeTable(scope, maximum: maximum) { Named($0) }
    }

    @Test(
        "an origin is told from others that look like it",
        arguments: [
            ("http://h/a", "http://h"), ("http://h:80/a", "http://h"), ("http://H?q", "http://h"), ("http://h", "http://h"),
            ("http://h.example/a", "http://h.example"), ("http://h:8080/", "http://h:8080"), ("https://h/", "https://h"),
            ("http://h:x@other/", "http://other"), ("nonsense", ""),
        ])
    func origins(url: String, key: String) {
        let table = table(.origin)
        _ = table.state(for: HTTPRequest("http://h/"))
        for _ in 0..<2 { #expect(table.state(for: HTTPRequest(url)).key == key) }
    }

    @Test("the same key has the same state, whatever came between")
    func same() {
        let table = table(.origin)
        let first = table.state(for: HTTPRequest("http://h/"))
        for number in 0..<20 { _ = table.state(for: HTTPRequest("http://h\(number)/")) }
        #expect(table.state(for: HTTPRequest("http://h/x")) === first)
        #expect(table.all.count == 21)
    }

    @Test("keys beyond the maximum are forgotten, the one that wasn't used for longest first")
    func bounded() {
        let table = table(.key { $0.headers["K"] ?? "" }, maximum: 10)
        func ask(_ number: Int) { _ = table.state(for: HTTPRequest("http://h/", headers: ["K": "\(number)"])) }
        for number in 0..<10 { ask(number) }
        ask(0)
        for number in 10..<15 { ask(number) }
        #expect(table.all.map(\.key).sorted { Int($0)! < Int($1)! } == ["0", "6", "7", "8", "9", "10", "11", "12", "13", "14"])
    }

    @Test("all requests of a client are one key")
    func client() {
        let table = table(.client)
        #expect(table.state(for: HTTPRequest("http://a/")) === table.state(for: HTTPRequest("http://b/")))
        #expect(table.state(of: "anything") === table.all.first?.state)
    }
}
