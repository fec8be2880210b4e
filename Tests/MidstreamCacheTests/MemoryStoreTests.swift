import Foundation
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("Entries in memory")
struct MemoryStoreTests {
    private func entry(_ url: String, partition: String = "", id: UInt64 = .random(in: .min ... .max)) -> CacheEntry {
        let head = StoredHead(
            status: 200, fields: ["A": "1"], requestTime: Date(), responseTime: Date(), receivedAge: 3,
            selecting: SelectingFields(fields: [.init(name: "foo", value: "1"), .init(name: "bar", value: nil)]))
        return CacheEntry(id: id, key: CacheKey(url: url, partition: partition), head: head)
    }

    @Test("an entry takes no more memory than it counts for")
    func compacted() async throws {
        let store = MemoryCacheStore()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128 << 10)
        bytes += [1, 2, 3]
        let entry = entry("http://a.test/").holding(StoredRanges(), of: 3)
        try await store.put(bytes, of: entry)
        let body = try #require(try await store.body(of: entry, range: nil).bytes)
        #expect(body == [1, 2, 3] && body.capacity < 1024)
    }

    @Test("a list that is mostly of one is as any other")
    func shortList() {
        var random = SeededGenerator(seed: 7)
        var (list, array) = (ShortList<Int>(), [Int]())
        for step in 0..<2000 {
            let removes = array.count > Int.random(in: 0..<4, using: &random)
            list.change { if removes { $0.removeLast() } else { $0.insert(step, at: 0) } }
            if removes { array.removeLast() } else { array.insert(step, at: 0) }
            #expect(Array(list) == array && list.count == array.count && list.isEmpty == array.isEmpty)
            var other = ShortList<Int>()
            other.change { $0 = array }
            #expect(list.first == array.first && list.last == array.last && list == other)
            if array.count == 1 { #expect(list == ShortList(array[0])) }
        }
    }

    private func put(
        _ store: any CacheStore, _ entry: CacheEntry, _ bytes: [UInt8], at offset: Int64 = 0, of length: Int64? = nil
    )
        async throws
    {
        let entry = entry.adding(offset..<(offset + Int64(bytes.count)), of: length ?? Int64(bytes.count))
        let writer = try await store.writer(for: entry, at: offset)
        try await writer.write(bytes)
        _ = try await writer.commit(entry) { true }
    }

    @Test("of an entry that is forgotten while more of it is written, only that is there then")
    func forgottenMeanwhile() async throws {
        let store = MemoryCacheStore()
        let entry = entry("http://a.test/").adding(0..<3, of: 6)
        try await store.put([1, 2, 3], of: entry)
        let writer = await store.writer(for: entry, at: 3)
        try await writer.write([4, 5, 6])
        await store.remove(entry.key)
        _ = try await writer.commit(entry.adding(3..<6)) { true }
        let stored = try #require(await store.entries(for: entry.key).first)
        #expect(stored.parts.ranges == [3..<6] && !stored.isWhole)
        #expect(try await store.body(of: stored, range: 3..<6).bytes == [4, 5, 6])
        await #expect(throws: (any Error).self) { try await store.body(of: stored, range: nil) }
    }

    @Test("never holds more than it may")
    func bound() async throws {
        let store = MemoryCacheStore(maximumBytes: 100_000)
        for number in 0..<2000 {
            try await put(store, entry("http://h/\(number % 700)"), [UInt8](repeating: 1, count: 1000 + number % 5000))
            #expect(store.bytes <= 100_000)
        }
        #expect(store.count > 10)
        await store.removeAll(origin: "http://h")
        #expect(store.bytes == 0 && store.count == 0)
    }

    @Test("the same entry stored again and again takes no more room")
    func replacing() async throws {
        let store = MemoryCacheStore(maximumBytes: 100_000)
        for _ in 0..<1000 { try await put(store, entry("http://h/"), [1, 2, 3]) }
        #expect(store.count == 1)
        #expect(await store.entries(for: CacheKey(url: "http://h/")).count == 1)
    }

    @Test("an entry that is too large isn't stored, and makes no other go")
    func tooLarge() async throws {
        let store = MemoryCacheStore(maximumBytes: 10_000)
        try await put(store, entry("http://h/1"), [1])
        await #expect(throws: (any Error).self) {
            try await put(store, entry("http://h/2"), [UInt8](repeating: 0, count: 10_000))
        }
        #expect(store.count == 1)
    }

    @Test("segments are united, and each range that is there is read")
    func segments() async throws {
        let store = MemoryCacheStore()
        let part = entry("http://h/", id: 7)
        try await put(store, part, [0, 1], at: 0, of: 8)
        try await put(store, part, [6, 7], at: 6, of: 8)
        try await put(store, part, [1, 2, 3], at: 1, of: 8)
        let stored = try #require(await store.entries(for: part.key).first)
        #expect(stored.ranges == [0..<4, 6..<8])
        #expect(try await store.body(of: stored, range: 1..<4).bytes == [1, 2, 3])
        await #expect(throws: (any Error).self) { try await store.body(of: stored, range: 3..<7) }
        try await put(store, part, [4, 5], at: 4, of: 8)
        #expect(try await store.body(of: stored, range: nil).bytes == [0, 1, 2, 3, 4, 5, 6, 7])
    }

    @Test("segments in any order are what was written last")
    func segmentsInAnyOrder() async throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<100 {
            let store = MemoryCacheStore()
            let part = entry("http://h/", id: 7)
            var content = [UInt8?](repeating: nil, count: 40)
            for step in UInt8(1)...12 {
                let start = Int.random(in: 0..<39, using: &random)
                let end = Int.random(in: (start + 1)...min(40, start + 12), using: &random)
                for place in start..<end { content[place] = step }
                let bytes = [UInt8](repeating: step, count: end - start)
                try await put(store, part, bytes, at: Int64(start), of: 100)
                let ranges = try #require(await store.entries(for: part.key).first).ranges
                let isThere = content.indices.map { place in ranges.contains { $0.contains(Int64(place)) } }
                #expect(isThere == content.map { $0 != nil })
                for range in ranges {
                    let written = content[Int(range.lowerBound)..<Int(range.upperBound)].compactMap { $0 }
                    #expect(try await store.body(of: part, range: range).bytes == written)
                }
            }
        }
    }

    @Test("what comes in many parts isn't copied for each of them")
    func manyParts() async throws {
        let store = MemoryCacheStore()
        let part = entry("http://h/", id: 7)
        var (place, moves) = (nil as UInt?, 0)
        for number in Int64(0)..<1_000 {
            try await put(store, part, [UInt8](repeating: 1, count: 1_000), at: 1_000 * number, of: 2_000_000)
            let now = store.bodyNow(of: part, range: 0..<(1_000 * (number + 1)))?.bytes?.withUnsafeBytes {
                UInt(bitPattern: $0.baseAddress)
            }
            if now != place { (place, moves) = (now, moves + 1) }
        }
        #expect(place != nil && moves < 100)
    }

    @Test("all of a URL are forgotten, whosever they are")
    func removal() async throws {
        let store = MemoryCacheStore()
        for partition in ["", "a", "K", "\u{212A}"] { try await put(store, entry("http://h/", partition: partition), [1]) }
        #expect(store.count == 4)
        await store.remove(CacheKey(url: "http://h/"))
        #expect(store.count == 0)
    }

    @Test("an entry is the same after it was bytes, and other bytes are none")
    func coding() throws {
        let entry = entry("http://h/").holding(StoredRanges([0..<3, 5..<9]), of: 20)
        let copy = try #require(CacheEntry(entry.encoded, key: entry.key))
        #expect(copy.id == entry.id && copy.ranges == entry.ranges && copy.length == 20 && copy.replaces(entry))
        #expect(
            copy.head.fields == entry.head.fields && copy.head.receivedAge == 3
                && copy.head.responseTime == entry.head.responseTime)
        for count in 0..<entry.encoded.count { #expect(CacheEntry(Array(entry.encoded.prefix(count)), key: entry.key) == nil) }
        for place in entry.encoded.indices {
            var damaged = entry.encoded
            damaged[place] ^= 0xFF
            _ = CacheEntry(damaged, key: entry.key)
        }
    }

    @Test("bytes with which nobody could reckon are no entry")
    func nonsense() throws {
        let entry = entry("http://h/").holding(StoredRanges([0..<3, 5..<9]))
        let bytes = entry.encoded
        // The moments are the fourth number and the fifth; the ranges' ends stand behind the ninth, which counts them.
        for place in [24, 32] {
            for time in [Double.nan, .infinity, -.infinity, .signalingNaN] {
                var damaged = bytes
                damaged.replaceSubrange(
                    place..<(place + 8), with: withUnsafeBytes(of: time.bitPattern.littleEndian) { Array($0) })
                #expect(CacheEntry(damaged, key: entry.key) == nil)
            }
        }
        for ranges: [UInt8] in [[5, 9, 0, 3], [0, 3, 3, 9], [0, 3, 5, 5], [0, 3, 2, 9], [3, 0, 5, 9]] {
            var damaged = bytes
            for (number, end) in ranges.enumerated() { damaged[72 + 8 * number] = end }
            #expect(CacheEntry(damaged, key: entry.key) == nil)
        }
    }

    /// Asks for numbered objects in turn, and tells the shares of objects and of bytes that were there.
    private func ratios(_ trace: [(object: Int, size: Int64)], capacity: Int64) -> (small: Double, objects: Double) {
        var queues = EvictionQueues(capacity: capacity)
        var seats: [Int: EvictionQueues.Seat] = [:]
        var owners: [ObjectIdentifier: Int] = [:]
        var hits = 0
        // The usual one, to compare: the least recently used goes first.
        var used: [Int: Int] = [:]
        var order: [(time: Int, object: Int)] = []
        var first = 0
        var bytes: Int64 = 0
        var usualHits = 0
        for (time, (object, size)) in trace.enumerated() {
            if let seat = seats[object] {
                hits += 1
                seat.hit()
            } else if size <= capacity {
                let seat = EvictionQueues.Seat(size: size, ghost: object)
                seats[object] = seat
                owners[ObjectIdentifier(seat)] = object
                for evicted in queues.insert(seat) {
                    if let object = owners.removeValue(forKey: ObjectIdentifier(evicted)) { seats[object] = nil }
                }
            }
            if used[object] != nil { usualHits += 1 } else { bytes += size }
            used[object] = time
            order.append((time, object))
            while bytes > capacity {
                let (then, candidate) = order[first]
                first += 1
                guard used[candidate] == then else { continue }
                used[candidate] = nil
                bytes -= trace[then].size
            }
        }
        return (Double(usualHits) / Double(trace.count), Double(hits) / Double(trace.count))
    }

    @Test("more of what is asked for is there than if the least recently used went first", arguments: [0.01, 0.1])
    func hitRatio(share: Double) {
        var random = SeededGenerator(seed: 42)
        for (skew, drifts) in [(0.7, false), (0.9, false), (1.1, false), (0.9, true)] {
            let count = 20_000
            var sums: [Double] = []
            var sum = 0.0
            for rank in 1...count {
                sum += 1 / pow(Double(rank), skew)
                sums.append(sum)
            }
            let sizes = (0..<(3 * count)).map { _ in Int64(500 * exp(2.5 * Double.random(in: 0..<1, using: &random) * 2)) }
            let trace = (0..<150_000).map { time -> (object: Int, size: Int64) in
                // One in five is asked for once and never again.
                if Int.random(in: 0..<5, using: &random) == 0 { return (1_000_000 + time, sizes[time % sizes.count]) }
                let wanted = Double.random(in: 0..<sum, using: &random)
                var (low, high) = (0, count - 1)
                while low < high {
                    let middle = (low + high) / 2
                    if sums[middle] < wanted { low = middle + 1 } else { high = middle }
                }
                let object = drifts ? low + time / 150_000 * count : low
                return (object, sizes[object])
            }
            let capacity = Int64(Double(sizes.prefix(count).reduce(0, +)) * share)
            let (usual, objects) = ratios(trace, capacity: capacity)
            #expect(objects > usual + 0.02, "\(skew) \(drifts): \(objects), \(usual)")
        }
    }
}

extension MemoryCacheStore {
    fileprivate func put(_ bytes: [UInt8], of entry: CacheEntry) async throws {
        let writer = await writer(for: entry, at: 0)
        try await writer.write(bytes)
        #expect(try await writer.commit(entry) { true })
    }
}
