import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Removals while requests are under way", .leavesNothing, .timeLimit(.minutes(10)))
struct RemovalTests {
    @Test("nobody joins a fetch that began before a removal, by whomever", arguments: ["its cache", "another", "the store"])
    func removedMeanwhile(by remover: String) async throws {
        let gate = Gate()
        let store = MemoryCacheStore()
        let number = Locked(0)
        let bench = CacheBench(store: store) { request in
            let isFirst = number.increment() == 1
            if isFirst { await gate.wait() }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60"], body: .text(isFirst ? "old" : "new"), request: request)
        }
        let first = Task { try await bench.get() }
        await gate.reached()
        switch remover {
        case "its cache": await bench.cache.removeAll()
        case "another": await CacheInterceptor(store: store).remove(CacheBench.url)
        default: await store.removeAll(origin: nil)
        }
        #expect(try await bench.get().text == "new")
        gate.open()
        #expect(try await first.value.text == "old")
        #expect(try await bench.get().text == "new" && bench.sent == 2)
    }

    @Test(
        "what the store can't remove isn't given out, by any of its caches",
        arguments: ["remove", "removeAll", "PUT", "Clear-Site-Data"], [false, true])
    func failed(by remover: String, isQuick: Bool) async throws {
        let store = KeepingStore(isQuick: isQuick)
        let bench = CacheBench(store: store) { request in
            var headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
            if request.urlText.hasSuffix("clear") { headers["Clear-Site-Data"] = "\"cache\"" }
            return HTTPResponse(status: 200, headers: headers, body: .text("x"), request: request)
        }
        _ = try await bench.get()
        #expect(try await bench.get().isHit)
        bench.clock.advance(1)
        var options = CacheOptions()
        options.now = { [clock = bench.clock] in clock.now }
        let other = CacheInterceptor(store: store, options: options)
        switch remover {
        case "remove": await other.remove(CacheBench.url)
        case "removeAll": await other.removeAll()
        case "PUT": _ = try await bench.get { $0.method = .put }
        default: _ = try await bench.get("http://cache.test/clear")
        }
        bench.clock.advance(1)
        #expect(try await !bench.get().isHit)
        #expect(try await bench.get().isHit)
    }

    @Test(
        "what the store failed to remove while the server was asked answers in the place of no error",
        arguments: [HTTPMethod.get, .head], [false, true])
    func failedMeanwhile(method: HTTPMethod, breaks: Bool) async throws {
        let gate = Gate()
        let isFirst = Locked(true)
        let bench = CacheBench(store: KeepingStore(isQuick: false)) { request in
            let isFirst = isFirst.lower()
            guard !isFirst else {
                let headers: HTTPHeaders = ["Cache-Control": "max-age=10, stale-if-error=60"]
                return HTTPResponse(status: 200, headers: headers, body: .text("old"), request: request)
            }
            await gate.wait()
            if breaks { throw HTTPError(.connection, phase: .notSent) }
            return HTTPResponse(status: 503, request: request)
        }
        _ = try await bench.get()
        bench.clock.advance(20)
        let late = Task { try await bench.get { $0.method = method } }
        await gate.reached()
        await bench.cache.removeAll()
        gate.open()
        if breaks {
            await #expect(throws: HTTPError.self) { try await late.value }
        } else {
            #expect(try await late.value.status == 503)
        }
    }

    @Test("what a POST brings that was under way at a removal isn't stored", arguments: [false, true])
    func postMeanwhile(isRemoved: Bool) async throws {
        let gate = Gate()
        let bench = CacheBench { request in
            if request.method == .post { await gate.wait() }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "Content-Location": "/a"], body: .text("x"),
                request: request)
        }
        let post = Task { try await bench.get { $0.method = .post } }
        await gate.reached()
        if isRemoved { await bench.cache.removeAll() }
        gate.open()
        _ = try await post.value
        #expect(try await bench.get().isHit == !isRemoved)
    }

    @Test("what a POST brings isn't stored when there was another removal during its own", arguments: [false, true])
    func removedDuringOwn(isRemoved: Bool) async throws {
        let gate = Gate()
        let store = KeepingStore(isQuick: true) { await gate.wait() }
        let bench = CacheBench(store: store) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "Content-Location": "/a"], body: .text("x"),
                request: request)
        }
        let post = Task { try await bench.get { $0.method = .post } }
        await gate.reached()
        if isRemoved { store.removals.remove(CacheBench.url) }
        gate.open()
        _ = try await post.value
        #expect(try await bench.get().isHit == !isRemoved)
    }

    @Test(
        "an answer that wants its origin forgotten is heeded, whatever it is",
        arguments: ["200", "no-store", "HEAD", "304", "503"])
    func clearing(by kind: String) async throws {
        let clears = Locked(false)
        let bench = CacheBench { request in
            let isOut = request.urlText.hasSuffix("out")
            let control = isOut ? "max-age=10, stale-if-error=600" : "max-age=600"
            var headers: HTTPHeaders = ["Cache-Control": control, "ETag": "\"a\""]
            var status: HTTPStatus = 200
            if isOut, clears.withLock({ $0 }) {
                headers["Clear-Site-Data"] = "\"cache\""
                if kind == "503" { status = 503 }
                if kind == "304", request.headers["If-None-Match"] != nil { status = 304 }
            }
            return HTTPResponse(status: status, headers: headers, request: request)
        }
        for url in ["http://a.test/1", "http://b.test/1", "http://a.test/out"] { _ = try await bench.get(url) }
        bench.clock.advance(20)
        clears.withLock { $0 = true }
        _ = try await bench.get("http://a.test/out") { request in
            if kind == "HEAD" { request.method = .head }
            if kind == "no-store" { request.cache = .noStore }
        }
        #expect(bench.sent == 4)
        #expect(try await !bench.get("http://a.test/1").isHit)
        #expect(try await bench.get("http://b.test/1").isHit)
    }

    @Test("another cache of the store removes what was stored for several URLs that are the same", arguments: ["remove", "PUT"])
    func sameURLsOfAnother(by remover: String) async throws {
        let store = MemoryCacheStore()
        let bench = CacheBench(store: store) { request in
            HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "No-Vary-Search": "key-order"], body: .text("x"),
                request: request)
        }
        let (url, same) = (CacheBench.url + "?a=1&b=2", CacheBench.url + "?b=2&a=1")
        _ = try await bench.get(url)
        #expect(try await bench.get(same).isHit)
        let other = CacheInterceptor(store: store)
        if remover == "PUT" {
            _ = try await testClient(transport: bench.stub) { other }.send(HTTPRequest(.put, same))
        } else {
            await other.remove(same)
        }
        #expect(try await !bench.get(url).isHit)
    }

    @Test("nobody joins a fetch during which a URL was removed that is the same", arguments: [true, false])
    func sameURLWhileFetched(isKnown: Bool) async throws {
        let gate = Gate()
        let number = Locked(isKnown ? 0 : 1)
        let bench = CacheBench { request in
            let count = number.withLock { number in
                if request.method == .get { number += 1 }
                return number
            }
            if count == 2, request.method == .get { await gate.wait() }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "No-Vary-Search": "key-order"], body: .text("\(count)"),
                request: request)
        }
        let (url, same) = (CacheBench.url + "?a=1&b=2", CacheBench.url + "?b=2&a=1")
        if isKnown {
            _ = try await bench.get(url)
            bench.clock.advance(100)
        }
        let old = Task { try await bench.get(url) }
        await gate.reached()
        _ = try await bench.get(same) { $0.method = .put }
        if !isKnown { _ = try await bench.get(CacheBench.url + "?other") }
        let new = try await bench.get(url)
        #expect(new.text == (isKnown ? "3" : "4") && !new.isHit)
        gate.open()
        #expect(try await old.value.text == "2")
    }

    @Test("nobody is given by a URL that was removed what another brings that first tells that both are the same")
    func sameURLMeanwhile() async throws {
        let gate = Gate()
        let number = Locked(0)
        let bench = CacheBench { request in
            let isFirst = number.increment() == 1
            if isFirst { await gate.wait() }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "No-Vary-Search": "key-order"],
                body: .text(isFirst ? "old" : "new"), request: request)
        }
        let (url, same) = (CacheBench.url + "?a=1&b=2", CacheBench.url + "?b=2&a=1")
        let first = Task { try await bench.get(url) }
        await gate.reached()
        await bench.cache.remove(same)
        gate.open()
        #expect(try await first.value.text == "old")
        #expect(try await bench.get(same).text == "new")
        #expect(try await bench.get(url).isHit)
    }

    @Test(
        "a removal is heeded by the answer that first tells which URLs are the same",
        arguments: ["remove", "PUT"], [false, true])
    func sameURLs(by remover: String, isArriving: Bool) async throws {
        let gate = Gate()
        let url = CacheBench.url + "?a=1"
        let bench = CacheBench { request in
            if request.method == .get { await gate.wait() }
            return HTTPResponse(
                status: 200, headers: ["Cache-Control": "max-age=60", "No-Vary-Search": "key-order"],
                body: isArriving ? .incoming(ArrivingBody([[1]])) : .text("x"), request: request)
        }
        let first = Task { try await bench.client.stream(HTTPRequest(url)).body.collect() }
        await gate.reached()
        if remover == "PUT" { _ = try await bench.get(url) { $0.method = .put } } else { await bench.cache.remove(url) }
        gate.open()
        #expect(try await first.value.count == 1)
        #expect(try await !bench.get(url).isHit)
        #expect(try await bench.get(url).isHit)
    }
}

/// A store that removes nothing; by default since it can't.
private struct KeepingStore: MemoryDecorator {
    struct Failure: Error {}

    let isQuick: Bool
    let base = MemoryCacheStore()
    private let onRemove: @Sendable () async throws -> Void

    init(isQuick: Bool, onRemove: @escaping @Sendable () async throws -> Void = { throw Failure() }) {
        self.isQuick = isQuick
        self.onRemove = onRemove
    }

    var boundsItsTime: Bool { true }

    func entriesNow(for key: CacheKey) -> [CacheEntry]? { isQuick ? base.entriesNow(for: key) : nil }

    func remove(_ key: CacheKey) async throws {
        removals.remove(key.url)
        try await onRemove()
    }

    func removeAll(origin: String?) async throws {
        removals.removeAll(origin: origin)
        throw Failure()
    }
}
