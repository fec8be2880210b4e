internal import Interception
public import MidstreamCacheStore
public import MidstreamCore

/// Keeps entries in memory, up to a number of bytes. Rarely used ones go first (S3-FIFO, larger entries before smaller ones).
///
/// Each entry counts as its head, its body and 200 bytes. Of one key there are at most 32 variants. Copies of a client may share one.
public final class MemoryCacheStore: CacheStore {
    private final class Slot {
        private(set) var entry: CacheEntry
        private(set) var segments = ShortList<Segment>()
        /// Nil until it sits somewhere.
        var seat: EvictionQueues.Seat?

        init(_ entry: CacheEntry, _ segments: ShortList<Segment>) {
            self.entry = entry
            self.segments = segments
        }

        /// Takes over more bytes, if there are any, and the head that came with them unless there is a later one.
        func add(_ segment: Segment?, of entry: CacheEntry) {
            if let segment { segments.change { Segment.add(segment, to: &$0) } }
            self.entry = entry.keepingLaterHead(of: self.entry).holding(StoredRanges(segments.map(\.range)))
        }

        func update(_ head: StoredHead) { entry = entry.with(head) }

        /// The entry, with its body if that is there as a whole. Counts as a hit.
        func found(in store: MemoryCacheStore) -> CacheEntry {
            seat?.hit()
            // Only now, since most entries are never found.
            if entry.body(from: store) == nil, segments.count < 2, entry.isWhole {
                entry = entry.with(segments.first?.bytes ?? [], from: store)
            }
            return entry
        }

        var size: Int64 { Int64(entry.headBytes) + entry.storedBytes }
    }

    /// Bytes at their place in the representation.
    fileprivate struct Segment: Sendable {
        var start: Int64
        var bytes: [UInt8]
        var range: Range<Int64> { start..<(start + Int64(bytes.count)) }

        /// The same without room for more, which would take memory that isn't counted.
        var compacted: Segment {
            guard bytes.capacity > 2 * bytes.count else { return self }
            return Segment(start: start, bytes: bytes.withUnsafeBufferPointer { Array($0) })
        }
    }

    private struct State {
        var slots: [CacheKey: ShortList<Slot>] = [:]
        /// The keys of a URL's entries, apart from those that are anybody's.
        var owned: [String: Set<CacheKey>] = [:]
        var queues: EvictionQueues
    }

    private static let maximumVariants = 32
    private let state: Locked<State>
    /// Its removals.
    public let removals = CacheRemovals()
    /// How many bytes it holds at most.
    public let maximumBytes: Int64

    /// Makes an empty store.
    ///
    /// - Parameter maximumBytes: How many bytes it holds at most; 64 MiB by default.
    public init(maximumBytes: Int64 = 64 << 20) {
        self.maximumBytes = max(0, maximumBytes)
        state = Locked(State(queues: EvictionQueues(capacity: max(0, maximumBytes))))
    }

    /// “memory”.
    public var name: String { "memory" }
    /// True.
    public var boundsItsTime: Bool { true }
    /// How many bytes it holds.
    public var bytes: Int64 { state.withLock { $0.queues.bytes } }
    /// How many entries it holds.
    public var count: Int { state.withLock { $0.queues.count } }

    /// The entries of a key, the newest first. Counts as a hit of each.
    public func entries(for key: CacheKey) async -> [CacheEntry] { entriesNow(for: key) ?? [] }

    /// The entries of a key, the newest first. Counts as a hit of each.
    public func entriesNow(for key: CacheKey) -> [CacheEntry]? {
        state.withLock { $0.slots[key]?.map { $0.found(in: self) } ?? [] }
    }

    /// The bytes of an entry, which are in memory.
    public func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody {
        guard let body = bodyNow(of: entry, range: range) else { throw MissingBytes() }
        return body
    }

    /// The bytes of an entry, which are in memory.
    public func bodyNow(of entry: CacheEntry, range: Range<Int64>?) -> HTTPBody? {
        if range == nil, let bytes = entry.body(from: self) { return bytes.isEmpty ? .empty : .bytes(bytes) }
        let found = state.withLock { state -> (segments: ShortList<Segment>, length: Int64?)? in
            guard let slot = state.slots[entry.key]?.first(where: { $0.entry.id == entry.id }) else { return nil }
            return (slot.segments, slot.entry.length)
        }
        guard let found, let range = range ?? found.length.map({ 0..<$0 }) else { return nil }
        if range.isEmpty { return .empty }
        guard
            let segment = found.segments.first(where: {
                $0.start <= range.lowerBound && range.upperBound <= $0.range.upperBound
            })
        else { return nil }
        if segment.range == range { return .bytes(segment.bytes) }
        let start = Int(range.lowerBound - segment.start)
        return .bytes(Array(segment.bytes[start..<(start + Int(range.upperBound - range.lowerBound))]))
    }

    /// Takes the bytes of an entry at once.
    public func storeNow(
        _ bytes: [UInt8], of entry: CacheEntry, at offset: Int64, if isCurrent: () -> Bool
    ) throws -> Bool? {
        guard Int64(bytes.count) <= maximumBytes else { throw NoRoom() }
        return try commit(entry, Segment(start: offset, bytes: bytes), if: isCurrent)
    }

    /// Takes bytes.
    public func writer(for entry: CacheEntry, at offset: Int64) async -> any CacheWriter { Writer(self, offset) }

    /// Replaces the head of an entry.
    public func update(_ entry: CacheEntry) async -> Bool {
        state.withLock { state in
            guard let slot = state.slots[entry.key]?.first(where: { $0.entry.id == entry.id }) else { return false }
            slot.update(entry.head)
            reseat(slot, &state)
            return true
        }
    }

    /// Forgets the entries of a URL.
    public func remove(_ key: CacheKey) async {
        removals.remove(key.url)
        state.withLock { state in
            for key in (state.owned[key.url] ?? []).union([CacheKey(url: key.url)]) {
                guard let slots = state.slots[key] else { continue }
                for slot in slots { drop(slot, &state) }
            }
        }
    }

    /// Forgets the entries of an origin, or all.
    public func removeAll(origin: String?) async {
        removals.removeAll(origin: origin)
        // Of which origin each URL is takes longer to see than others should wait. What they store meanwhile was asked for after the removal.
        let keys = state.withLock { Array($0.slots.keys) }.filter { origin == nil || $0.origin == origin }
        state.withLock { state in
            for key in keys {
                for slot in state.slots[key] ?? ShortList() { drop(slot, &state) }
            }
        }
    }

    private func commit(_ entry: CacheEntry, _ segment: Segment, if isCurrent: () -> Bool) throws -> Bool {
        try state.withLock { state in
            guard isCurrent() else { return false }
            // What was written is there, and nothing else.
            let slot = Slot(
                entry.parts.areOnly(segment.range) ? entry : entry.holding(segment.range),
                segment.bytes.isEmpty ? ShortList() : ShortList(segment.compacted))
            // Looked up once, as most are the first of their keys.
            let isFirst = slot.size <= maximumBytes && Self.isPutFirst(slot, &state.slots[entry.key, default: ShortList()])
            if !isFirst {
                let others = state.slots[entry.key] ?? ShortList()
                if others.contains(where: { slot.entry.isBehind($0.entry) }) { return false }
                guard try isPut(slot, beside: others, &state) else { return true }
            }
            if !entry.key.partition.isEmpty { state.owned[entry.key.url, default: []].insert(entry.key) }
            sit(slot, &state)
            return true
        }
    }

    private static func isPutFirst(_ slot: Slot, _ slots: inout ShortList<Slot>) -> Bool {
        guard slots.isEmpty else { return false }
        slots = ShortList(slot)
        return true
    }

    /// Puts a slot before those of its key. False when it is more of one of them, which has it then.
    private func isPut(_ slot: Slot, beside others: ShortList<Slot>, _ state: inout State) throws -> Bool {
        let entry = slot.entry
        if let other = others.first(where: { $0.entry.id == entry.id }) {
            other.add(slot.segments.first, of: entry)
            reseat(other, &state)
            return false
        }
        guard slot.size <= maximumBytes else { throw NoRoom() }
        for other in others where entry.replaces(other.entry) { drop(other, &state) }
        if let slots = state.slots[entry.key], slots.count >= Self.maximumVariants, let last = slots.last { drop(last, &state) }
        state.slots[entry.key, default: ShortList()].change { $0.insert(slot, at: 0) }
        return true
    }

    private func reseat(_ slot: Slot, _ state: inout State) {
        let hits = slot.seat?.hits ?? 0
        if let seat = slot.seat { state.queues.remove(seat) }
        guard slot.size <= maximumBytes else { return forget(slot, &state) }
        sit(slot, hits: hits, &state)
    }

    private func sit(_ slot: Slot, hits: UInt8 = 0, _ state: inout State) {
        let seat = EvictionQueues.Seat(size: slot.size, ghost: slot.entry.key.hashValue, owner: slot)
        for _ in 0..<hits { seat.hit() }
        slot.seat = seat
        for evicted in state.queues.insert(seat) {
            if let slot = evicted.owner as? Slot { forget(slot, &state) }
        }
    }

    private func drop(_ slot: Slot, _ state: inout State) {
        if let seat = slot.seat { state.queues.remove(seat) }
        forget(slot, &state)
    }

    /// Takes a slot that sits nowhere any more out of its shelf.
    private func forget(_ slot: Slot, _ state: inout State) {
        let key = slot.entry.key
        guard let slots = state.slots[key], slots.contains(where: { $0 === slot }) else { return }
        guard slots.count == 1 else { return state.slots[key]?.change { $0.removeAll { $0 === slot } } ?? () }
        state.slots[key] = nil
        guard !key.partition.isEmpty else { return }
        state.owned[key.url]?.remove(key)
        if state.owned[key.url]?.isEmpty == true { state.owned[key.url] = nil }
    }

    private struct MissingBytes: Error {}
    private struct NoRoom: Error {}

    private final class Writer: CacheWriter {
        private let store: MemoryCacheStore
        private let offset: Int64
        private let chunks = Locked<(chunks: ShortList<[UInt8]>, count: Int64)>((ShortList(), 0))

        init(_ store: MemoryCacheStore, _ offset: Int64) {
            self.store = store
            self.offset = offset
        }

        func write(_ bytes: [UInt8]) async throws {
            try chunks.withLock { written in
                written.count += Int64(bytes.count)
                guard written.count <= store.maximumBytes else { throw NoRoom() }
                written.chunks.append(bytes)
            }
        }

        func commit(_ entry: CacheEntry, if isCurrent: @escaping @Sendable () -> Bool) async throws -> Bool {
            let (chunks, count) = self.chunks.withLock { written in
                defer { written.chunks = ShortList() }
                return written
            }
            var bytes = chunks.first ?? []
            if chunks.count > 1 { bytes.reserveCapacity(Int(count)) }
            for chunk in chunks.dropFirst() { bytes += chunk }
            return try store.commit(entry, Segment(start: offset, bytes: bytes), if: isCurrent)
        }

        func abandon() async { chunks.withLock { $0.chunks = ShortList() } }
    }
}

extension MemoryCacheStore.Segment {
    /// Adds one to segments, which wins where they overlap; those that touch it become one with it. What goes on another is put behind that
    /// where it is: a body may come in any number of parts.
    fileprivate static func add(_ new: Self, to segments: inout [Self]) {
        let place = segments.firstIndex { new.start <= $0.range.upperBound } ?? segments.endIndex
        if place < segments.endIndex, segments[place].start <= new.start {
            let start = Int(new.start - segments[place].start)
            let end = min(start + new.bytes.count, segments[place].bytes.count)
            segments[place].bytes.replaceSubrange(start..<end, with: new.bytes)
        } else {
            segments.insert(new, at: place)
        }
        while place + 1 < segments.endIndex, segments[place + 1].start <= segments[place].range.upperBound {
            let next = segments.remove(at: place + 1)
            let known = Int(segments[place].range.upperBound - next.start)
            segments[place].bytes += next.bytes.dropFirst(known)
        }
    }
}
