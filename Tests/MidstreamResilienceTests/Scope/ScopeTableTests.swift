import Interception
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamResilience

@Suite("What is known about each key of a scope", .leavesNothing, .timeLimit(.minutes(10)))
struct ScopeTableTests {
    private final class Named: ScopeState {
        let key: String
        let idleFrom = Locked(Int64.min)
        init(_ key: String) { self.key = key }

        func isIdle(at now: Int64) -> Bool { now >= idleFrom.withLock { $0 } }
    }

    private func table(_ scope: ResilienceScope) -> ScopeTable<Named> { ScopeTable(scope) { Named($0) } }

    @Test(
        "an origin is told from others that look like it",
        arguments: [
            ("http://h/a", "http://h"), ("http://h:80/a", "http://h"), ("http://H?q", "http://h"), ("http://h", "http://h"),
            ("http://h.example/a", "http://h.example"), ("http://h:8080/", "http://h:8080"), ("https://h/", "https://h"),
            ("http://h:x@other/", "http://other"), ("nonsense", ""),
        ])
    func origins(url: String, key: String) {
        let table = table(.origin)
        _ = table.state(for: HTTPRequest("http://h/"), at: 0)
        for _ in 0..<2 { #expect(table.state(for: HTTPRequest(url), at: 0).key == key) }
    }

    @Test("the same key has the same state, whatever came between")
    func same() {
        let table = table(.origin)
        let first = table.state(for: HTTPRequest("http://h/"), at: 0)
        for number in 0..<20 { _ = table.state(for: HTTPRequest("http://h\(number)/"), at: 0) }
        #expect(table.state(for: HTTPRequest("http://h/x"), at: 0) === first)
        #expect(table.all.count == 21)
    }

    @Test("a key is found where it was asked for, and looking for it makes none")
    func found() {
        let table = table(.origin)
        let first = table.state(of: "http://h", at: 0)
        #expect(table.known("http://h") === first)
        #expect(table.known("http://other") == nil && table.all.count == 1)
    }

    @Test("an explanation makes none")
    func explained() async throws {
        let (breaker, hedging, limit) = (CircuitBreaker(), Hedging(), ConcurrencyLimit())
        let client = testClient(transport: StubTransport.ok) {
            breaker
            hedging
            limit
        }
        _ = try await client.explain(HTTPRequest("https://h/"))
        #expect(breaker.table.all.isEmpty && hedging.states.isEmpty && limit.states.isEmpty)
        let circuit = breaker.table.state(of: "https://h", at: 0)
        #expect(breaker.table.peek(for: HTTPRequest("https://h/")) === circuit)
    }

    @Test("keys beyond the maximum are forgotten, the one that wasn't used for longest first")
    func bounded() {
        let table = table(.key { $0.headers["K"] ?? "" }.maximumKeys(10))
        func ask(_ number: Int) { _ = table.state(for: HTTPRequest("http://h/", headers: ["K": "\(number)"]), at: 0) }
        for number in 0..<10 { ask(number) }
        ask(0)
        for number in 10..<15 { ask(number) }
        #expect(table.all.map(\.key).sorted { Int($0)! < Int($1)! } == ["0", "6", "7", "8", "9", "10", "11", "12", "13", "14"])
    }

    @Test("one that is used all the time isn't forgotten for others")
    func used() {
        let table = table(.origin.maximumKeys(10))
        let first = table.state(for: HTTPRequest("http://h/"), at: 0)
        for number in 0..<1_000 {
            _ = table.state(for: HTTPRequest("http://h\(number % 3 == 0 ? number : 1)/"), at: 0)
            #expect(table.state(for: HTTPRequest("http://h/"), at: 0) === first)
        }
        #expect(table.all.count == 10)
    }

    @Test("what isn't idle isn't forgotten; when it is, there are as many as may be again")
    func needed() {
        let table = table(.key { $0.headers["K"] ?? "" }.maximumKeys(10))
        func state(_ number: Int, at now: Int64) -> Named {
            table.state(for: HTTPRequest("http://h/", headers: ["K": "\(number)"]), at: now)
        }
        let needed = (0..<100).map { number in
            let state = state(number, at: 0)
            state.idleFrom.withLock { $0 = 5 }
            return state
        }
        for number in 0..<100 { #expect(state(number, at: 4) === needed[number]) }
        for number in 100..<200 { _ = state(number, at: 5) }
        #expect(table.all.count == 10)
        for number in 0..<5 { #expect(state(number, at: 5) !== needed[number]) }
    }

    @Test("all requests of a client are one key")
    func client() {
        let table = table(.client)
        #expect(table.state(for: HTTPRequest("http://a/"), at: 0) === table.state(for: HTTPRequest("http://b/"), at: 0))
        #expect(table.state(of: "anything", at: 0) === table.all.first?.state)
    }
}
