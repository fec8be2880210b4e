internal import Foundation
internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

struct CacheStoreTrial: Sendable {
    let law: CacheStoreLaw
    let store: any CacheStore

    private static let url = "http://laws.test/a"
    private static let key = CacheKey(url: url)

    func findsWhatWasCommitted() async throws {
        // Larger than most stores keep beside their heads.
        for count in [0, 1, 300_000] {
            let content = Self.content(count)
            let entry = Self.entry(Self.key, text: "\(count)", length: count)
            let writer = try await store.writer(for: entry, at: 0)
            for piece in Self.pieces(of: content) { try await writer.write(piece) }
            let before = try await store.entries(for: Self.key)
            try check(!before.contains { $0.id == entry.id }, "an entry was found before it was committed")
            let isStored = try await writer.commit(entry.holding(0..<Int64(count))) { true }
            try check(isStored, "a current entry wasn't stored")
            try await expect(entry, content)
        }
        for key in [CacheKey(url: Self.url + "?"), CacheKey(url: Self.url, partition: "p"), CacheKey(url: "http://other.test/a")]
        {
            try check(try await store.entries(for: key).isEmpty, "an entry was found by another key")
        }
        let entry = Self.entry(CacheKey(url: Self.url + "b"), text: "", length: 3)
        let writer = try await store.writer(for: entry, at: 0)
        try await writer.write([1, 2, 3])
        await writer.abandon()
        _ = try await store.writer(for: entry, at: 0)
        try check(try await store.entries(for: entry.key).isEmpty, "an entry that was abandoned was found")
    }

    func keepsVariants() async throws {
        for language in ["en", "de"] { try await put(Self.entry(Self.key, text: language, length: 2, language), language) }
        let both = try await store.entries(for: Self.key)
        try check(both.map(Self.name) == ["de", "en"], "of two variants \(both.map(Self.name)) were found, the newest first")
        try await put(Self.entry(Self.key, text: "EN", length: 2, "en"), "EN")
        let replaced = try await store.entries(for: Self.key)
        try check(replaced.map(Self.name) == ["EN", "de"], "\(replaced.map(Self.name)) were found after one was replaced")
        for entry in replaced { try await expect(entry, Array(Self.name(entry).utf8)) }
        for isPart in [false, true] { try await refusesWhatIsBehind(aPart: isPart) }
        try await refusesLaterParts()
    }

    /// Of two that replace each other, the one that was asked for first ends last.
    private func refusesWhatIsBehind(aPart isPart: Bool) async throws {
        let (key, now) = (CacheKey(url: "\(Self.url)/\(isPart)"), Date())
        let old = Self.entry(key, text: "old", length: 3, at: now - 2)
        let new = Self.entry(key, text: "new", length: 3, at: now - 1)
        let late = try await store.writer(for: old, at: 0)
        try await put(new, Array("new".utf8)[..<(isPart ? 2 : 3)])
        try await late.write(Array("old".utf8))
        let isStored = try await late.commit(old.holding(0..<3)) { true }
        try check(isStored == isPart, "a whole entry was \(isPart ? "taken for" : "stored though it is") behind another")
        let found = try await store.entries(for: key).map(Self.name)
        try check(found == [isPart ? "old" : "new"], "\(found) were found after an earlier one had ended last")
        if isPart { try await expect(old, Array("old".utf8)) } else { try await expect(new, Array("new".utf8)) }
    }

    /// A whole one can still stand in for the server, which a part of a later one can't.
    private func refusesLaterParts() async throws {
        let (key, now) = (CacheKey(url: "\(Self.url)/later"), Date())
        let whole = Self.entry(key, text: "whole", length: 5, at: now - 2)
        try await put(whole, "whole")
        let isStored = try await isPut(Self.entry(key, text: "part", length: 5, at: now - 1), Array("par".utf8)[...])
        try check(!isStored, "a part took the place of a whole entry")
        try await expect(whole, Array("whole".utf8))
    }

    func keepsParts() async throws {
        let content = Self.content(200_000)
        let entry = Self.entry(Self.key, text: "x", length: content.count)
        try await put(entry, content[0..<100_000])
        guard let part = try await store.entries(for: Self.key).first else { throw violation("a part wasn't found") }
        try check(part.ranges == [0..<100_000] && !part.isWhole, "a part is there as \(part.ranges)")
        try await expect(part, Array(content[10..<99_000]), in: 10..<99_000)
        let missing = try? await store.body(of: part, range: 99_000..<100_001).collect()
        try check(missing == nil, "bytes were read that aren't there")
        let writer = try await store.writer(for: part, at: 100_000)
        try await writer.write(Array(content[100_000...]))
        _ = try await writer.commit(part.adding(100_000..<200_000)) { true }
        try await expect(entry, content)
        try await expect(entry, Array(content[99_990..<100_010]), in: 99_990..<100_010)
        // No part takes the place of the whole.
        try await store.remove(Self.key)
        let other = Self.entry(Self.key, text: "y", length: content.count)
        try await put(other, content[0..<100_000])
        let late = try await store.writer(for: other.holding(0..<100_000), at: 100_000)
        try await late.write(Array(content[100_000...]))
        try await store.remove(Self.key)
        _ = try? await late.commit(other.holding(0..<200_000)) { true }
        for found in try await store.entries(for: Self.key) {
            try check(found.ranges == [100_000..<200_000], "bytes are named that were removed with their entry")
        }
    }

    func updatesHeads() async throws {
        let entry = Self.entry(Self.key, text: "old", length: 3)
        try await put(entry, "abc")
        guard let stored = try await store.entries(for: Self.key).first else { throw violation("an entry wasn't found") }
        let updated = stored.with(Self.entry(Self.key, text: "new", length: 3).head)
        try check(try await store.update(updated), "an entry that is there wasn't updated")
        let found = try await store.entries(for: Self.key)
        try check(found.map(Self.name) == ["new"], "after an update \(found.map(Self.name)) were found")
        try await expect(entry, Array("abc".utf8))
        try await store.remove(Self.key)
        let isUpdated = try await store.update(updated)
        try check(!isUpdated, "an update of a removed entry succeeded")
        try check(try await store.entries(for: Self.key).isEmpty, "an update stored a removed entry again")
    }

    func removesWhatIsNamed() async throws {
        let keys = [
            Self.key, CacheKey(url: Self.url, partition: "p"), CacheKey(url: Self.url + "b"),
            CacheKey(url: "http://other.test/a"),
        ]
        func left() async throws -> [Bool] {
            var left: [Bool] = []
            for key in keys { left.append(try await !store.entries(for: key).isEmpty) }
            return left
        }
        for key in keys { try await put(Self.entry(key, text: "x", length: 1), "x") }
        try await put(Self.entry(Self.key, text: "y", length: 1, "en"), "y")
        try check(try await left() == [true, true, true, true], "an entry wasn't found")
        try await store.remove(Self.key)
        try check(try await left() == [false, false, true, true], "removing a URL removed something else")
        try await store.removeAll(origin: "http://laws.test")
        try check(try await left() == [false, false, false, true], "removing an origin removed something else")
        try await store.removeAll(origin: nil)
        try check(try await left() == [false, false, false, false], "something was left when everything was removed")
    }

    func keepsRemovedEntriesAway() async throws {
        let entry = Self.entry(Self.key, text: "x", length: 3)
        let writer = try await store.writer(for: entry, at: 0)
        try await writer.write([1, 2, 3])
        let isStored = try await writer.commit(entry.holding(0..<3)) { false }
        try check(!isStored, "an entry that isn't current was stored")
        try check(try await store.entries(for: Self.key).isEmpty, "an entry that isn't current was found")
        let removals: [@Sendable () async throws -> Void] = [
            { try await store.remove(Self.key) }, { try await store.removeAll(origin: "http://laws.test") },
            { try await store.removeAll(origin: nil) },
        ]
        for remove in removals {
            let permit = store.removals.permit()
            try await remove()
            try check(!permit.holds(for: Self.key), "a removal wasn't counted")
            for _ in 0..<30 { try await removesDuringCommit(remove) }
        }
    }

    /// Removes while the store asks whether an entry is current. A store that asks outside of its lock mostly stores the entry afterwards.
    private func removesDuringCommit(_ remove: @escaping @Sendable () async throws -> Void) async throws {
        let entry = Self.entry(Self.key, text: "x", length: 3)
        let removal = Locked<Task<Void, any Error>?>(nil)
        let writer = try await store.writer(for: entry, at: 0)
        try await writer.write([1, 2, 3])
        _ = try? await writer.commit(entry.holding(0..<3)) {
            removal.withLock { $0 = Task.detached { try await remove() } }
            Thread.sleep(forTimeInterval: 0.001)
            return true
        }
        try await removal.withLock { $0 }?.value
        try check(try await store.entries(for: Self.key).isEmpty, "an entry was stored after it had been removed")
    }

    func keepsOpenBodiesReadable() async throws {
        let content = Self.content(3 << 20)
        for isReplaced in [true, false] {
            let entry = Self.entry(Self.key, text: "x", length: content.count)
            try await put(entry, content[...])
            let body = try await store.body(of: entry, range: nil)
            if isReplaced {
                try await put(Self.entry(Self.key, text: "y", length: 1), "y")
            } else {
                try await store.remove(Self.key)
            }
            let bytes = try? await body.collect()
            try check(bytes == content, "an open body lost its bytes with its entry")
        }
    }

    func isReusableConcurrently() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    // Some write to the same key.
                    let key = CacheKey(url: "\(Self.url)/\(number % 48)")
                    let text = String(repeating: "\(number) ", count: 1 + number * 100)
                    // One may be behind another.
                    _ = try await isPut(Self.entry(key, text: "\(number)", length: text.utf8.count), Array(text.utf8)[...])
                    for entry in try await store.entries(for: key) {
                        // Another one may have taken its place since.
                        guard let bytes = try? await store.body(of: entry, range: nil).collect() else { continue }
                        let name = Self.name(entry)
                        try check(
                            bytes.starts(with: "\(name) ".utf8) && Int64(bytes.count) == entry.length,
                            "the entry \(name) was found with the bytes of another one")
                    }
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<48 {
            let found = try await store.entries(for: CacheKey(url: "\(Self.url)/\(number)"))
            try check(found.count == 1, "of the entries that replace each other \(found.count) were found")
        }
    }

    func answersTheSameNow() async throws {
        for text in ["a", "b"] {
            try await put(Self.entry(Self.key, text: text, length: 1), text)
            // Reading may make the store know more.
            for _ in 0..<2 {
                let found = try await store.entries(for: Self.key)
                if let now = store.entriesNow(for: Self.key) {
                    try check(now.map(\.id) == found.map(\.id), "other entries are known than are found")
                }
                if let entry = found.first { _ = try await read(entry) }
            }
        }
        try await store.remove(Self.key)
        try check(store.entriesNow(for: Self.key)?.isEmpty != false, "an entry is known that was removed")
        try await storesTheSameNow()
    }

    private func storesTheSameNow() async throws {
        for isCurrent in [false, true] {
            let content = Self.content(isCurrent ? 1000 : 3)
            let entry = Self.entry(Self.key, text: "now", length: content.count).holding(0..<Int64(content.count))
            guard let isStored = try store.storeNow(content, of: entry, at: 0, if: { isCurrent }) else { return }
            try check(isStored == isCurrent, "an entry that \(isCurrent ? "is" : "isn't") current was taken for the opposite")
            if isCurrent {
                try await expect(entry, content)
            } else {
                try check(try await store.entries(for: Self.key).isEmpty, "an entry that isn't current was found")
            }
        }
    }

    // MARK: Entries

    private static func entry(
        _ key: CacheKey, text: String, length: Int, _ language: String? = nil, at now: Date = Date()
    ) -> CacheEntry {
        var request = HTTPRequest(key.url)
        var response = HTTPResponse(
            status: 200, headers: ["X-Law": text, "ETag": "\"\(text)\"", "Cache-Control": "max-age=60"], request: request)
        if let language {
            request.headers[.acceptLanguage] = language
            response.headers[.vary] = "Accept-Language"
        }
        return CacheEntry(of: response, to: request, key: key, length: Int64(length), at: now)
    }

    private static func name(_ entry: CacheEntry) -> String { entry.head.fields["X-Law"] ?? "nobody" }

    private static func content(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) } }

    private static func pieces(of content: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: content.count, by: 9_999).map { Array(content[$0..<min($0 + 9_999, content.count)]) }
    }

    private func put(_ entry: CacheEntry, _ text: String) async throws { try await put(entry, Array(text.utf8)[...]) }

    private func put(_ entry: CacheEntry, _ content: ArraySlice<UInt8>) async throws {
        try check(try await isPut(entry, content), "a current entry wasn't stored")
    }

    private func isPut(_ entry: CacheEntry, _ content: ArraySlice<UInt8>) async throws -> Bool {
        let writer = try await store.writer(for: entry, at: 0)
        for piece in Self.pieces(of: Array(content)) { try await writer.write(piece) }
        return try await writer.commit(entry.holding(0..<Int64(content.count))) { true }
    }

    private func expect(_ entry: CacheEntry, _ content: [UInt8], in range: Range<Int64>? = nil) async throws {
        guard let found = try await store.entries(for: entry.key).first(where: { $0.id == entry.id }) else {
            throw violation("an entry that was committed wasn't found")
        }
        if range == nil { try check(found.isWhole, "a whole entry was found as \(found.ranges)") }
        let bytes = try await read(found, range)
        try check(bytes == content, "\(bytes.count) bytes were read that aren't the \(content.count) that were written")
    }

    private func read(_ entry: CacheEntry, _ range: Range<Int64>? = nil) async throws -> [UInt8] {
        do {
            return try await store.body(of: entry, range: range).collect()
        } catch {
            throw violation("bytes that are there couldn't be read: \(error)")
        }
    }

    private func check(_ condition: Bool, _ problem: @autoclosure () -> String) throws {
        if !condition { throw violation(problem()) }
    }

    private func violation(_ problem: String) -> CacheStoreLawViolation {
        CacheStoreLawViolation(
            law: law, store: "\(type(of: store))",
            description: "\(type(of: store)) breaks the law \(law.rawValue): \(problem).")
    }
}
