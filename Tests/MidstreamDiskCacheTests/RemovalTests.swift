import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamDiskCache
import MidstreamTesting
import TestSupport
import Testing

@Suite("What was removed stays removed", .leavesNothing, .serialized, .timeLimit(.minutes(10)))
struct RemovalTests {
    enum Place: String, CaseIterable, CustomTestStringConvertible {
        case memory, disk, tiers, tiersOverDisk
        var testDescription: String { rawValue }
    }

    enum Removal: String, CaseIterable, CustomTestStringConvertible {
        case all, url, unsafe, store
        var testDescription: String { rawValue }
    }

    private static let url = "http://h.test/a"
    private let folder = temporaryPath("midstream-removals-\(UUID().uuidString)")

    /// The stores and the server of one run. Each request has a cache of its own, so that none waits for another's fetch.
    private struct Run: Sendable {
        let steps: Interleaving
        let store: any CacheStore
        let near = MemoryCacheStore()
        private let hasBegun = Locked(false)

        init(_ place: Place, disk: DiskCacheStore?, _ steps: Interleaving) {
            self.steps = steps
            let base: any CacheStore = disk ?? MemoryCacheStore()
            switch place {
            case .memory, .disk: store = SteppedStore(base, steps)
            case .tiers, .tiersOverDisk: store = TieredStore(SteppedStore(near, steps), SteppedStore(base, steps))
            }
        }

        private func client(_ cache: CacheInterceptor) -> HTTPClient {
            let stub = StubTransport { [hasBegun, steps] request in
                let text = hasBegun.withLock { $0 } ? "new" : "old"
                await steps.step(.after)
                return HTTPResponse(
                    status: 200, headers: ["Cache-Control": "max-age=600", "ETag": "\"\(text)\""], body: .text(text),
                    request: request)
            }
            return testClient(transport: stub) { cache }
        }

        func text(_ use: CacheUse = .standard) async throws -> String? {
            var request = HTTPRequest(RemovalTests.url)
            request.cache = use
            let response = try? await client(CacheInterceptor(store: store)).send(request)
            return response.map { String(decoding: $0.data, as: UTF8.self) }
        }

        /// Removes, and looks then for what was removed.
        func remove(_ removal: Removal) async throws {
            hasBegun.withLock { $0 = true }
            let cache = CacheInterceptor(store: store)
            switch removal {
            case .all: await cache.removeAll()
            case .url: await cache.remove(RemovalTests.url)
            case .unsafe: _ = try await client(cache).send(HTTPRequest(.put, RemovalTests.url))
            case .store: try await store.removeAll(origin: nil)
            }
            let found = try await steps.atOnce { try await text(.onlyIfCached) }
            #expect(found != "old", "right after the removal")
        }

        func check() async throws {
            let found = try await text(.onlyIfCached)
            #expect(found != "old", "at the end")
            for entry in await near.entries(for: CacheKey(url: RemovalTests.url)) {
                let kept = try? await near.body(of: entry, range: nil).bytes
                #expect(kept != Array("old".utf8), "in memory")
            }
        }
    }

    private static let kinds: [(Place, Removal)] = [
        (.memory, .all), (.memory, .unsafe), (.disk, .all), (.disk, .store), (.tiers, .all), (.tiers, .url), (.tiers, .unsafe),
        (.tiersOverDisk, .all),
    ]

    @Test("in every order of one request's steps and a removal's", arguments: kinds)
    func everyOrder(place: Place, removal: Removal) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = place == .disk || place == .tiersOverDisk ? DiskCacheStore(folder) : nil
        for (use, gap) in [(CacheUse.standard, Gap.before), (.standard, .after), (.reload, .before), (.reload, .after)] {
            var order = Order()
            var count = 0
            repeat {
                order = try await run(place, disk, removal, [use], order, [gap])
                count += 1
            } while order.advance()
            #expect(count > 3)
        }
    }

    @Test("in some orders of a hit, two fetches, an eviction and a removal", arguments: Place.allCases)
    func someOrders(place: Place) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = place == .disk || place == .tiersOverDisk ? DiskCacheStore(folder) : nil
        for seed in 0..<60 {
            let removal = Removal.allCases[seed % 4]
            _ = try await run(
                place, disk, removal, [.standard, .reload, .standard], Order(random: SimulatedRandom(seed: UInt64(seed))),
                [.before, .after], evicts: true)
        }
    }

    private func run(
        _ place: Place, _ disk: DiskCacheStore?, _ removal: Removal, _ uses: [CacheUse], _ order: Order, _ gaps: Set<Gap>,
        evicts: Bool = false
    ) async throws -> Order {
        try await disk?.removeAll(origin: nil)
        let run = Run(place, disk: disk, Interleaving(gaps))
        _ = try await run.text()
        // A store in front begins empty, as that of a new process.
        await run.near.removeAll(origin: nil)
        var works: [@Sendable () async throws -> Void] = uses.map { use in { _ = try await run.text(use) } }
        works.append { try await run.remove(removal) }
        if evicts { works.append { await run.near.removeAll(origin: nil) } }
        let taken = try await run.steps.run(works, in: order)
        try await run.check()
        return taken
    }
}

/// In which order steps are taken: all orders, one after the other, or one by chance.
private struct Order: Sendable {
    private var choices: [(taken: Int, of: Int)] = []
    private var place = 0
    private let random: SimulatedRandom?

    init(random: SimulatedRandom? = nil) { self.random = random }

    mutating func choose(of count: Int) -> Int {
        if var random { return Int.random(in: 0..<count, using: &random) }
        if place == choices.count { choices.append((0, count)) }
        defer { place += 1 }
        return choices[place].taken
    }

    /// Whether there is another order.
    mutating func advance() -> Bool {
        place = 0
        while let last = choices.popLast() {
            guard last.taken + 1 == last.of else {
                choices.append((last.taken + 1, last.of))
                return true
            }
        }
        return false
    }
}

/// Where others may go on: before something is done or after it.
private enum Gap { case before, after }

/// Lets one of several works at a time go as far as its next step.
private final class Interleaving: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var running = 0
        var driver: CheckedContinuation<Void, Never>?

        mutating func pause() -> CheckedContinuation<Void, Never>? {
            running -= 1
            guard running == 0 else { return nil }
            defer { driver = nil }
            return driver
        }
    }

    @TaskLocal private static var work: Int?
    private let state = Locked(State())
    private let gaps: Set<Gap>

    init(_ gaps: Set<Gap>) { self.gaps = gaps }

    /// Does something without a gap.
    func atOnce<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        try await Self.$work.withValue(nil) { try await work() }
    }

    /// A place where others may go on; none outside of works.
    func step(_ gap: Gap) async {
        guard gaps.contains(gap), let work = Self.work else { return }
        await pause(work)
    }

    private func pause(_ work: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting[work] = continuation
                return state.pause()
            }?.resume()
        }
    }

    func run(_ works: [@Sendable () async throws -> Void], in order: Order) async throws -> Order {
        var order = order
        state.withLock { $0.running = works.count }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, work) in works.enumerated() {
                group.addTask { [self] in
                    try await Self.$work.withValue(number) {
                        await pause(number)
                        defer { state.withLock { $0.pause() }?.resume() }
                        try await work()
                    }
                }
            }
            while let next = await waiting(&order) { next.resume() }
            try await group.waitForAll()
        }
        return order
    }

    /// Who goes on, once all wait; nil: all have ended.
    private func waiting(_ order: inout Order) async -> CheckedContinuation<Void, Never>? {
        await withCheckedContinuation { driver in
            let isPaused = state.withLock { state in
                if state.running > 0 { state.driver = driver }
                return state.running == 0
            }
            if isPaused { driver.resume() }
        }
        let numbers = state.withLock { $0.waiting.keys.sorted() }
        guard !numbers.isEmpty else { return nil }
        let chosen = numbers[order.choose(of: numbers.count)]
        return state.withLock { state in
            state.running += 1
            return state.waiting.removeValue(forKey: chosen)
        }
    }
}

/// A store before and after each of whose doings others may go on.
private struct SteppedStore: CacheStore {
    private let base: any CacheStore
    private let steps: Interleaving

    init(_ base: any CacheStore, _ steps: Interleaving) {
        self.base = base
        self.steps = steps
    }

    var name: String { base.name }
    var boundsItsTime: Bool { true }
    var removals: CacheRemovals { base.removals }
    func salt() async throws -> [UInt8] { try await base.salt() }

    private func stepped<Value>(_ work: () async throws -> Value) async throws -> Value {
        await steps.step(.before)
        let result = try await work()
        await steps.step(.after)
        return result
    }

    func entries(for key: CacheKey) async throws -> [CacheEntry] { try await stepped { try await base.entries(for: key) } }

    func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody {
        try await stepped { try await base.body(of: entry, range: range) }
    }

    func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        Writer(base: try await stepped { try await base.writer(for: entry, at: offset) }, steps: steps)
    }

    func update(_ entry: CacheEntry) async throws -> Bool { try await stepped { try await base.update(entry) } }
    func remove(_ key: CacheKey) async throws { try await stepped { try await base.remove(key) } }
    func removeAll(origin: String?) async throws { try await stepped { try await base.removeAll(origin: origin) } }

    private struct Writer: CacheWriter {
        let base: any CacheWriter
        let steps: Interleaving

        func write(_ bytes: [UInt8]) async throws { try await base.write(bytes) }

        func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
            await steps.step(.before)
            let isStored = try await base.commit(entry, if: isCurrent)
            await steps.step(.after)
            return isStored
        }

        func abandon() async { await base.abandon() }
    }
}
