import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

actor RecordStore: CacheStore {
    private struct Record {
        var entry: CacheEntry
        var content: [UInt8]
    }

    nonisolated let name = "records"
    nonisolated let removals = CacheRemovals()
    private var records: [CacheKey: [Record]] = [:]

    func entries(for key: CacheKey) -> [CacheEntry] { records[key, default: []].map(\.entry) }

    func body(of entry: CacheEntry, range: Range<Int64>?) throws -> HTTPBody {
        guard let record = records[entry.key]?.first(where: { $0.entry.id == entry.id }),
            let range = range ?? record.entry.length.map({ 0..<$0 }),
            range.isEmpty || record.entry.ranges.contains(where: { $0.clamped(to: range) == range })
        else { throw MissingBytes() }
        return .bytes(Array(record.content[Int(range.lowerBound)..<Int(range.upperBound)]))
    }

    func writer(for entry: CacheEntry, at offset: Int64) -> any CacheWriter { RecordWriter(store: self, offset: Int(offset)) }

    func update(_ entry: CacheEntry) -> Bool {
        guard let place = records[entry.key]?.firstIndex(where: { $0.entry.id == entry.id }) else { return false }
        records[entry.key]?[place].entry = entry
        return true
    }

    func remove(_ key: CacheKey) {
        removals.remove(key.url)
        records = records.filter { $0.key.url != key.url }
    }

    func removeAll(origin: String?) {
        removals.removeAll(origin: origin)
        records = records.filter { origin != nil && $0.key.origin != origin }
    }

    fileprivate func commit(_ entry: CacheEntry, _ bytes: [UInt8], at offset: Int, if isCurrent: () -> Bool) -> Bool {
        // Nothing is awaited from here on, so a removal comes before the question or after the entry.
        let old = records[entry.key]?.first { $0.entry.id == entry.id }
        guard isCurrent(), offset == 0 || old != nil else { return false }
        if records[entry.key]?.contains(where: { entry.isBehind($0.entry) }) == true { return false }
        var content = old?.content ?? []
        content += Array(repeating: 0, count: max(0, offset + bytes.count - content.count))
        content.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        records[entry.key, default: []].removeAll { entry.replaces($0.entry) }
        records[entry.key, default: []].insert(Record(entry: entry, content: content), at: 0)
        return true
    }
}

struct MissingBytes: Error {}

actor RecordWriter: CacheWriter {
    private let store: RecordStore
    private let offset: Int
    private var bytes: [UInt8] = []

    init(store: RecordStore, offset: Int) {
        self.store = store
        self.offset = offset
    }

    func write(_ bytes: [UInt8]) { self.bytes += bytes }

    func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async -> Bool {
        await store.commit(entry, bytes, at: offset, if: isCurrent)
    }

    func abandon() { bytes = [] }
}

@Suite("CacheStores.md", .leavesNothing, .timeLimit(.minutes(10)))
struct CacheStoreSamples {
    @Test("A store of one's own follows the laws")
    func laws() async throws {
        try await assertCacheStoreLaws { RecordStore() }
    }

    @Test("Hit from it")
    func hit() async throws {
        let stub = StubTransport(status: .ok, headers: ["Cache-Control": "max-age=60"], body: .text("x"))
        let cache = CacheInterceptor(store: RecordStore())
        // The cache waits for a store for a second of the client's clock at most; a busy machine may take longer.
        let client = testClient(configuration: .init(clock: TestClock()), transport: stub) { cache }
        for isHit in [false, true] {
            #expect(try await client.send(HTTPRequest("http://h/")).cacheStatus?.isHit == isHit)
        }
    }
}
