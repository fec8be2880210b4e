import Foundation
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("The newest of several responses", .leavesNothing, .timeLimit(.minutes(10)))
struct RecencyTests {
    @Test("is chosen of those that match, in whichever order the store lists them", arguments: [false, true])
    func selection(isReversed: Bool) {
        let (now, request) = (Date(timeIntervalSince1970: 1_700_000_000), HTTPRequest(CacheBench.url, headers: ["Foo": "1"]))
        let (rules, fingerprint) = (CacheRules(isShared: false), Fingerprint(salt: [1]))
        func entry(_ fields: HTTPHeaders, foo: String, at offset: Double) -> CacheEntry {
            let asked = HTTPRequest(CacheBench.url, headers: ["Foo": .init(foo)])
            let head = StoredHead(
                HTTPResponse(status: 200, headers: fields, request: asked), to: asked, requestTime: now + offset,
                responseTime: now + offset, rules: rules, fingerprint: fingerprint)
            return CacheEntry(key: CacheKey(url: CacheBench.url), head: head)
        }
        let entries = [
            entry(["Vary": "Foo"], foo: "2", at: -1), entry(["Vary": "Foo"], foo: "1", at: -10), entry([:], foo: "1", at: -20),
            // Of a clock that has been put back.
            entry(["Vary": "Foo, Bar"], foo: "1", at: 1_000_000),
        ]
        var lookup = CacheLookup(key: CacheKey(url: CacheBench.url), fingerprint: fingerprint)
        lookup.select(from: isReversed ? entries.reversed() : entries, for: request, at: now)
        #expect(lookup.match?.id == entries[1].id)
    }

    @Test("answers, whether the server had named what of a query doesn't matter when it sent it", arguments: [false, true])
    func searchRule(isNamedFirst: Bool) async throws {
        let named: HTTPHeaders = ["Cache-Control": "max-age=60", "No-Vary-Search": "params=(\"utm\")"]
        let plain: HTTPHeaders = ["Cache-Control": "max-age=10, stale-while-revalidate=60"]
        let bench = CacheBench(answers: [
            (404, isNamedFirst ? named : plain, "one"), (200, isNamedFirst ? plain : named, "two"),
        ])
        let url = "http://cache.test/p?a=1"
        _ = try await bench.get(url)
        bench.clock.advance(5)
        #expect(try await bench.get(url) { $0.cache = .reload }.text == "two")
        bench.clock.advance(isNamedFirst ? 5 : 20)
        let third = try await bench.get(url)
        #expect(third.isHit && third.text == "two" && bench.sent == 2)
    }
}
