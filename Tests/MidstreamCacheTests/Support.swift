import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport

/// A time of day that moves when a test says so.
final class WallClock: Sendable {
    private let time = Locked(Date(timeIntervalSince1970: 1_700_000_000))

    var now: Date { time.withLock { $0 } }
    func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
    /// The moment as a field says it.
    func text(_ offset: Double = 0) -> String { HTTPDate.text(now + offset) }
}

/// A server of closures and a client with a cache before it.
struct CacheBench: Sendable {
    let clock = WallClock()
    let timer = TestClock()
    let stub: StubTransport
    let cache: CacheInterceptor
    let client: HTTPClient

    init(
        _ mode: CacheMode = .private, store: any CacheStore = MemoryCacheStore(),
        options change: (inout CacheOptions) -> Void = { _ in }, _ interceptors: [any HTTPInterceptor] = [],
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) {
        let clock = clock
        stub = StubTransport { request in
            var response = try await respond(request)
            if response.headers["Date"] == nil { response.headers["Date"] = clock.text() }
            if response.headers["Date"] == "none" { response.headers["Date"] = nil }
            return response
        }
        var options = CacheOptions()
        options.now = { clock.now }
        change(&options)
        cache = CacheInterceptor(mode, store: store, options: options)
        var configuration = HTTPClient.Configuration()
        configuration.validators = []
        configuration.timeout = nil
        configuration.clock = timer
        configuration.headers = [:]
        client = testClient(configuration: configuration, transport: stub) { [cache] in
            interceptors
            cache
        }
    }

    /// Answers with these, the first one first, and then with the last.
    init(
        _ mode: CacheMode = .private, options change: (inout CacheOptions) -> Void = { _ in },
        answers: [(HTTPStatus, HTTPHeaders, String)]
    ) {
        let number = Locked(0)
        self.init(mode, options: change) { request in
            let place = min(number.increment() - 1, answers.count - 1)
            let (status, headers, text) = answers[place]
            return HTTPResponse(status: status, headers: headers, body: .bytes(Array(text.utf8)), request: request)
        }
    }

    static let url = "http://cache.test/a"

    func get(_ url: String = url, _ headers: HTTPHeaders = [:], _ change: (inout HTTPRequest) -> Void = { _ in }) async throws
        -> HTTPResponse
    {
        var request = HTTPRequest(url, headers: headers)
        change(&request)
        return try await client.send(request)
    }

    /// How many requests went further than the cache.
    var sent: Int { stub.requests.count }
}

/// A store with the one in memory behind it, to which it passes on what it has to and nothing else, but for what it does itself.
protocol MemoryDecorator: CacheStore {
    var base: MemoryCacheStore { get }
}

extension MemoryDecorator {
    var name: String { base.name }
    var removals: CacheRemovals { base.removals }

    func entries(for key: CacheKey) async throws -> [CacheEntry] { await base.entries(for: key) }
    func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody {
        try await base.body(of: entry, range: range)
    }
    func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        await base.writer(for: entry, at: offset)
    }
    func update(_ entry: CacheEntry) async throws -> Bool { await base.update(entry) }
    func remove(_ key: CacheKey) async throws { await base.remove(key) }
    func removeAll(origin: String?) async throws { await base.removeAll(origin: origin) }
}

/// The store in memory behind another one.
struct DecoratedStore: MemoryDecorator {
    let base: MemoryCacheStore

    var boundsItsTime: Bool { true }
}

/// A store that holds up who looks first, when it has looked, or before that.
final class HeldStore: MemoryDecorator {
    let gate = Gate()
    let base = MemoryCacheStore()
    private let looksLate: Bool
    private let isHeld = Locked(true)

    init(looksLate: Bool = false) { self.looksLate = looksLate }

    var boundsItsTime: Bool { true }

    func entries(for key: CacheKey) async throws -> [CacheEntry] {
        let entries = await base.entries(for: key)
        let isFirst = isHeld.lower()
        guard isFirst else { return entries }
        await gate.wait()
        return await looksLate ? base.entries(for: key) : entries
    }
}

extension HTTPResponse {
    var isHit: Bool { cacheStatus?.isHit == true }
    var text: String { String(decoding: data, as: UTF8.self) }
}
