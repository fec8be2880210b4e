import Foundation
import Interception
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
        let future = [entry([:], foo: "1", at: 20), entry([:], foo: "1", at: 10)]
        lookup.select(from: isReversed ? future.reversed() : future, for: request, at: now)
        #expect(lookup.match?.id == future[isReversed ? 1 : 0].id)
    }

    @Test("stays when one that was asked for before comes to its end, or is closed", arguments: [true, false])
    func lateEnd(isRead: Bool) async throws {
        let (isFirst, store) = (Locked(true), NotingStore(boundsItsTime: true))
        store.gate.open()
        let bench = CacheBench(store: store) { request in
            let isOld = isFirst.lower()
            var headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"new\""]
            guard isOld else { return HTTPResponse(status: 200, headers: headers, body: .text("new"), request: request) }
            headers["ETag"] = "\"old\""
            headers["Content-Length"] = "6"
            let body = ArrivingBody([Array("old".utf8), Array("old".utf8)])
            return HTTPResponse(status: 200, headers: headers, body: .incoming(body, length: 6), request: request)
        }
        let slow = try await bench.client.stream(HTTPRequest(CacheBench.url))
        var iterator = slow.body.makeAsyncIterator()
        _ = try await iterator.next()
        bench.clock.advance(5)
        #expect(try await bench.get { $0.cache = .reload }.text == "new")
        if isRead { while try await iterator.next() != nil {} } else { slow.body.close() }
        await eventually { store.calls.withLock { calls in calls.filter { $0 == "committed" }.count } == 2 }
        #expect(try await store.entries(for: CacheKey(url: CacheBench.url)).count == 1)
        let third = try await bench.get()
        #expect(third.isHit && third.text == "new" && bench.sent == 2)
    }

    @Test("isn't one from the future, of a clock that has been put back since")
    func putBack() {
        let (now, request) = (Date(), HTTPRequest(CacheBench.url))
        func entry(at offset: Double) -> CacheEntry {
            CacheEntry(
                of: HTTPResponse(status: 200, request: request), to: request, key: CacheKey(url: CacheBench.url), length: 0,
                at: now + offset)
        }
        #expect(entry(at: -30).isBehind(entry(at: -20)) && !entry(at: -20).isBehind(entry(at: -30)))
        #expect(!entry(at: -30).isBehind(entry(at: 100_000)))
    }

    @Test("gives way to no part, unless it is known to have changed")
    func parts() {
        let (now, request) = (Date(), HTTPRequest(CacheBench.url))
        func entry(of range: Range<Int64>, at offset: Double) -> CacheEntry {
            let response = HTTPResponse(status: 200, request: request)
            let entry = CacheEntry(of: response, to: request, key: CacheKey(url: CacheBench.url), length: 2, at: now + offset)
            return entry.holding(range)
        }
        let (whole, part) = (entry(of: 0..<2, at: -30), entry(of: 0..<1, at: -20))
        let changed = whole.with(whole.head.invalidated)
        #expect(part.isBehind(whole) && !whole.isBehind(part))
        #expect(!part.isBehind(changed) && entry(of: 0..<1, at: -40).isBehind(changed))
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
