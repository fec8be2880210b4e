import Foundation
import Interception
import MidstreamCache
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// A store that breaks a law is found out, and the law is named.
@Suite("Stores that break a law", .leavesNothing, .serialized, .timeLimit(.minutes(10)))
struct StoreLawBreakerTests {
    @Test("are found out, and those that don't aren't", arguments: Fault.allCases)
    fileprivate func breaks(fault: Fault) async throws {
        do {
            try await assertCacheStoreLaws { BrokenStore(fault) }
            #expect(fault == .none)
        } catch let violation as CacheStoreLawViolation {
            #expect(violation.law == fault.law)
            #expect("\(violation)".contains("BrokenStore breaks the law"))
        }
    }
}

/// What is wrong with a store.
private enum Fault: String, CaseIterable, Sendable {
    case none
    case commitsAtOnce, ignoresOwners, losesTheLastByte, commitsWhatIsAbandoned
    case keepsOneVariant, listsTheOldestFirst, storesWhatIsBehind, replacesWholesByParts
    case ignoresRanges, namesRemovedBytes
    case updatesNothing, storesByUpdates
    case removesTheURLAlone, removesEverything
    case countsNoRemoval, storesWhatIsNotCurrent
    case readsBodiesLate
    case mixesBodies
    case remembersTheFirstAnswer, asksNothingNow

    var law: CacheStoreLaw? {
        switch self {
        case .none: nil
        case .commitsAtOnce, .ignoresOwners, .losesTheLastByte, .commitsWhatIsAbandoned: .findsWhatWasCommitted
        case .keepsOneVariant, .listsTheOldestFirst, .storesWhatIsBehind, .replacesWholesByParts: .keepsVariants
        case .ignoresRanges, .namesRemovedBytes: .keepsParts
        case .updatesNothing, .storesByUpdates: .updatesHeads
        case .removesTheURLAlone, .removesEverything: .removesWhatIsNamed
        case .countsNoRemoval, .storesWhatIsNotCurrent: .keepsRemovedEntriesAway
        case .readsBodiesLate: .keepsOpenBodiesReadable
        case .mixesBodies: .isReusableConcurrently
        case .remembersTheFirstAnswer, .asksNothingNow: .answersTheSameNow
        }
    }
}

/// The store in memory with a fault.
private final class BrokenStore: CacheStore {
    let fault: Fault
    let base = MemoryCacheStore()
    let removals: CacheRemovals
    private let first = Locked<[CacheKey: [CacheEntry]]>([:])
    private let kept = Locked<HTTPBody?>(nil)
    let bodies = Locked<[UInt64: CacheEntry]>([:])

    init(_ fault: Fault) {
        self.fault = fault
        removals = fault == .countsNoRemoval ? CacheRemovals() : base.removals
    }

    var name: String { "broken" }

    private func key(_ key: CacheKey) -> CacheKey { fault == .ignoresOwners ? CacheKey(url: key.url) : key }

    func entries(for key: CacheKey) async throws -> [CacheEntry] {
        var entries = await base.entries(for: self.key(key))
        if fault == .listsTheOldestFirst { entries.reverse() }
        if fault == .namesRemovedBytes { entries = entries.map { entry in bodies.withLock { $0[entry.id] } ?? entry } }
        first.withLock { $0[key] = $0[key] ?? entries }
        return entries
    }

    func entriesNow(for key: CacheKey) -> [CacheEntry]? {
        fault == .remembersTheFirstAnswer ? first.withLock { $0[key] } : nil
    }

    func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody {
        let range = fault == .ignoresRanges ? nil : range
        guard fault != .readsBodiesLate else { return .incoming(LateBody(base, entry, range)) }
        let body = try await base.body(of: entry, range: range)
        guard fault == .mixesBodies, entry.key.url.last?.isNumber == true else { return body }
        return kept.withLock { kept in
            defer { kept = body }
            return kept ?? body
        }
    }

    func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        BrokenWriter(store: self, entry: entry, base: await base.writer(for: entry, at: offset))
    }

    func storeNow(
        _ bytes: [UInt8], of entry: CacheEntry, at offset: Int64, if isCurrent: () -> Bool
    ) throws -> Bool? {
        guard fault == .asksNothingNow else { return nil }
        return try base.storeNow(bytes, of: entry, at: offset) { true }
    }

    func update(_ entry: CacheEntry) async throws -> Bool {
        if fault == .updatesNothing { return true }
        let isUpdated = await base.update(entry)
        guard fault == .storesByUpdates, !isUpdated else { return isUpdated }
        return try await base.writer(for: entry, at: 0).commit(entry) { true }
    }

    func remove(_ key: CacheKey) async throws {
        guard fault == .removesTheURLAlone else { return await base.remove(key) }
        removals.remove(key.url)
        // Others' entries are put back.
        let others = await base.entries(for: CacheKey(url: key.url, partition: "p"))
        await base.remove(key)
        for entry in others { _ = try await base.writer(for: entry, at: 0).commit(entry) { true } }
    }

    func removeAll(origin: String?) async throws {
        await base.removeAll(origin: fault == .removesEverything ? nil : origin)
    }
}

private struct BrokenWriter: CacheWriter {
    let store: BrokenStore
    let entry: CacheEntry
    let base: any CacheWriter

    func write(_ bytes: [UInt8]) async throws {
        try await base.write(store.fault == .losesTheLastByte ? bytes.dropLast() : bytes)
        if store.fault == .commitsAtOnce {
            let early = await store.base.writer(for: entry, at: 0)
            try await early.write(bytes)
            _ = try await early.commit(entry) { true }
        }
    }

    func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
        if store.fault == .keepsOneVariant { await store.base.remove(entry.key) }
        if store.fault == .replacesWholesByParts, !entry.isWhole { await store.base.remove(entry.key) }
        if store.fault == .namesRemovedBytes { store.bodies.withLock { $0[entry.id] = entry } }
        var stored = entry
        if store.fault == .ignoresOwners, let other = CacheEntry(entry.encoded, key: CacheKey(url: entry.key.url)) {
            stored = other
        }
        if store.fault == .storesWhatIsBehind { stored = entry.with(entry.head.askedForNow) }
        switch store.fault {
        case .storesWhatIsNotCurrent:
            let isStored = try await base.commit(stored) { true }
            return isStored && isCurrent()
        default: return try await base.commit(stored, if: isCurrent)
        }
    }

    func abandon() async {
        guard store.fault == .commitsWhatIsAbandoned else { return await base.abandon() }
        _ = try? await base.commit(entry) { true }
    }
}

extension StoredHead {
    fileprivate var askedForNow: StoredHead {
        StoredHead(
            status: status, fields: fields, requestTime: Date(), responseTime: responseTime, receivedAge: receivedAge,
            selecting: selecting)
    }
}

/// A body that is looked for when it is read.
private final class LateBody: IncomingBody {
    private let read: @Sendable () async throws -> [UInt8]
    private let isOver = Locked(false)

    init(_ store: MemoryCacheStore, _ entry: CacheEntry, _ range: Range<Int64>?) {
        read = { try await store.body(of: entry, range: range).collect() }
    }

    func next() async throws -> [UInt8]? {
        let wasOver = isOver.withLock { isOver in
            defer { isOver = true }
            return isOver
        }
        return wasOver ? nil : try await read()
    }

    func close() { isOver.withLock { $0 = true } }
    var isSpent: Bool { isOver.withLock { $0 } }
    var trailers: HTTPHeaders? { nil }
    var metrics: TransportMetrics? { nil }
}
