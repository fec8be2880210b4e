public import Foundation
internal import Interception
public import MidstreamCache
public import MidstreamCore

/// Keeps entries in a folder, up to a number of bytes, until after the process: heads and small bodies in an SQLite database, larger
/// bodies as files.
///
/// Any number of processes may share a folder. URLs and whose an entry is are there as salted hashes; bodies and the fields of responses are
/// as they came, and only the folder's user may read them. A damaged database is put aside and a new one begun; when nothing can be
/// written, or another process holds the database for longer than a quarter of a second, that is a miss.
///
/// Nothing is opened before the first request. All members may be used from any task.
public final class DiskCacheStore: CacheStore {
    private struct State {
        var table: EntryTable?
        /// When opening may be tried again.
        var nextTry = Date.distantPast
        var hits: [UInt64: Int] = [:]
        var isMaintenancePlanned = false
    }

    private let folder: CacheFolder
    private let queue = DispatchQueue(label: "midstream.cache.disk")
    /// Touched on the queue only; the lock says so to the compiler.
    private let state: Locked<State>
    /// How many bytes it holds at most, about: what is more goes within a second.
    public let maximumBytes: Int64

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - folder: A folder of its own; made at the first use, with its parents.
    ///   - maximumBytes: How many bytes it holds at most; 512 MiB by default.
    public init(_ folder: URL, maximumBytes: Int64 = 512 << 20) {
        self.folder = CacheFolder(path: folder.path)
        self.maximumBytes = max(0, maximumBytes)
        state = Locked(State())
        ResourceWitness.tell(of: self)
    }

    /// “disk”.
    public var name: String { "disk" }

    /// True: another process is waited for no longer than a quarter of a second.
    public var boundsItsTime: Bool { true }

    /// How many bytes it holds.
    public var bytes: Int64 {
        get async throws { try await perform { try $0.bytes() } }
    }

    /// Those of the folder.
    public func salt() async throws -> [UInt8] { try await perform { $0.salt } }

    /// The entries of a key, the newest first.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] { try await perform { try $0.entries(for: key) } }

    /// The bytes of an entry: those of the database, or of a file that stays open as long as the body is kept.
    public func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody {
        let folder = folder
        let body: HTTPBody = try await perform { table in
            guard let row = try table.row(of: entry), let range = range ?? row.entry.length.map({ 0..<$0 }),
                row.entry.ranges.contains(where: { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound })
                    || range.isEmpty
            else { throw MissingBytes() }
            if range.isEmpty { return .empty }
            if let bytes = row.body {
                guard Int64(bytes.count) == row.entry.length else { throw MissingBytes() }
                return .bytes(range.count == bytes.count ? bytes : Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
            }
            do {
                let file = try OpenFile(path: folder.body(entry.id))
                guard file.length >= row.fileBytes, range.upperBound <= row.fileBytes else { throw MissingBytes() }
                return .file(file, range: range)
            } catch {
                // Cut short, or gone.
                try table.remove(Int64(bitPattern: entry.id))
                throw MissingBytes()
            }
        }
        queue.async { [self] in
            state.withLock { $0.hits[entry.id, default: 0] += 1 }
            planMaintenance()
        }
        return body
    }

    /// Takes bytes: in memory while they are few, and then in a file that gets its name when it is whole.
    public func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        // One of which nothing is there has no row.
        let isThere =
            try await entry.ranges.isEmpty ? false : perform { table in try table.row(of: entry).map { $0.body == nil } ?? false }
        return try DiskCacheWriter(self, folder, extending: isThere ? entry.id : nil, offset)
    }

    /// Replaces the head of an entry.
    public func update(_ entry: CacheEntry) async throws -> Bool { try await perform { try $0.update(entry) } }

    /// Forgets the entries of a URL.
    public func remove(_ key: CacheKey) async throws { try await perform { try $0.remove(url: key) } }

    /// Forgets the entries of an origin, or all.
    public func removeAll(origin: String?) async throws { try await perform { try $0.removeAll(origin: origin) } }

    struct MissingBytes: Error {}

    /// Asks the database, one question after the other.
    func perform<Value: Sendable>(_ question: @escaping @Sendable (EntryTable) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { answer in
            queue.async { [self] in answer.resume(with: Result { try ask(question) }) }
        }
    }

    private func ask<Value>(_ question: (EntryTable) throws -> Value) throws -> Value {
        do {
            return try question(try table())
        } catch let error as DatabaseError where error.isDamage {
            // What others have open stays what it is, and leads them here as well.
            state.withLock { $0.table = nil }
            folder.putAside()
            throw error
        }
    }

    private func table() throws -> EntryTable {
        try state.withLock { state in
            if let table = state.table { return table }
            let now = Date()
            guard now >= state.nextTry || state.nextTry.timeIntervalSince(now) > 1 else { throw MissingBytes() }
            state.nextTry = now + 1
            let table = try Self.open(folder, now)
            state.table = table
            return table
        }
    }

    private static func open(_ folder: CacheFolder, _ now: Date) throws -> EntryTable {
        do {
            return try EntryTable(folder, now: now)
        } catch let error as DatabaseError where error.isDamage {
            folder.putAside()
            return try EntryTable(folder, now: now)
        }
    }

    /// Does what nobody waits for: a second later, for all that has come together until then.
    func planMaintenance() {
        let isFirst = state.withLock { state in
            defer { state.isMaintenancePlanned = true }
            return !state.isMaintenancePlanned
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.maintain() }
    }

    /// Counts hits, and makes room.
    func maintain() {
        let hits = state.withLock { state in
            state.isMaintenancePlanned = false
            defer { state.hits = [:] }
            return state.hits
        }
        try? ask { try $0.maintain(hits: hits, maximumBytes: maximumBytes) }
    }

    /// Does at once what is planned, so that tests needn't wait for it.
    func maintainNow() async {
        await withCheckedContinuation { done in
            queue.async { [self] in
                maintain()
                done.resume()
            }
        }
    }
}
