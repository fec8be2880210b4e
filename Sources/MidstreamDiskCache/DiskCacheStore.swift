public import Foundation
internal import Interception
public import MidstreamCacheStore
public import MidstreamCore
internal import MidstreamPlatform

/// Keeps entries in a folder, up to a number of bytes, until after the process: heads and small bodies in an SQLite database, larger
/// bodies as files. Bytes that aren't as they were written are a miss.
///
/// Any number of processes of one machine may share a folder on one of its disks; a network disk, or a folder that a virtual machine shares
/// with its host, won't do. URLs and identities are stored as salted hashes; bodies and response fields as they came, readable by the folder's
/// user alone. A damaged database is put aside in the folder and a new one begun. When nothing can be written, or another process holds the
/// database for longer than a quarter of a second, that is a miss.
///
/// Nothing is opened before the first request. All members may be used from any task.
public final class DiskCacheStore: CacheStore {
    private struct State {
        var table: EntryTable?
        /// When opening may be retried.
        var nextTry = Date.distantPast
        /// When another process was waited for in vain for the last time.
        var gaveUp = ContinuousClock.now
    }

    private struct Chores {
        var hits: [UInt64: Int] = [:]
        var isPlanned = false
        var hasGrown = false
        /// When room is made though nothing was written here, since other processes may have written. To find out whether there is too much
        /// reads all rows.
        var nextLook = ContinuousClock.now
    }

    private let folder: CacheFolder
    /// Runs slow work: opening, writing, tidying up.
    private let queue = DispatchQueue(label: "midstream.cache.disk")
    /// Writes arriving bodies to files, some chunks of each in turn.
    let writes = DispatchQueue(label: "midstream.cache.disk.writes")
    /// Held during a query.
    private let state: Locked<State>
    private let chores = Locked(Chores())
    /// Removals through this object. They don't affect fetches of other processes.
    public let removals = CacheRemovals()
    /// The most bytes that it holds, about: the excess is removed within a second, or when the folder is next opened.
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

    /// True: it waits a quarter of a second for another process at most.
    public var boundsItsTime: Bool { true }

    /// How many bytes it holds.
    public var bytes: Int64 {
        get async throws { try await perform { try $0.bytes() } }
    }

    /// Those of the folder.
    public func salt() async throws -> [UInt8] { try await look { $0.salt } }

    /// The entries of a key, the newest first.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] { try await look { try $0.entries(for: key) } }

    /// The bytes of an entry: those of the database, or of a file that stays open as long as the body is kept.
    public func body(of entry: CacheEntry, range: Range<Int64>?) async throws -> HTTPBody {
        let body: HTTPBody
        if let bytes = entry.body {
            body = .bytes(try Self.part(range, of: bytes))
        } else {
            guard let row = try await look({ try $0.row(of: entry) }), let range = range ?? row.entry.length.map({ 0..<$0 }),
                range.isEmpty || row.entry.ranges.contains(where: { $0.clamped(to: range) == range })
            else { throw MissingBytes() }
            do {
                body = try Self.body(of: row, range, folder)
            } catch let error as FileError where error.code == EMFILE || error.code == ENFILE {
                // Nobody has looked at the file.
                throw error
            } catch {
                // Gone, cut short, or not as it was written.
                try await perform { try $0.remove(Int64(bitPattern: entry.id)) }
                throw MissingBytes()
            }
        }
        planMaintenance { $0.hits[entry.id, default: 0] += 1 }
        return body
    }

    /// Ranges up to this size are read and checked in one pass. Larger ones are checked first, then streamed.
    private static let bytesAtOnce: Int64 = 1 << 20

    private static func body(of row: EntryTable.Row, _ range: Range<Int64>, _ folder: CacheFolder) throws -> HTTPBody {
        if range.isEmpty { return .empty }
        if let bytes = row.body { return .bytes(try part(range, of: bytes)) }
        let path = folder.body(row.entry.id)
        let descriptor = try CacheFolder.open(path, O_RDONLY)
        let file = OpenFile(descriptor: descriptor, name: path)
        defer { withExtendedLifetime(file) {} }
        let isShort = range.upperBound - range.lowerBound <= bytesAtOnce
        var bytes: [UInt8] = []
        if isShort { bytes.reserveCapacity(range.count) }
        let isRight = try row.sums.verify(range, of: row.entry.id) {
            try BodyFile.read(descriptor, at: $0, $1)
        } _: {
            if isShort { bytes += $0 }
        }
        guard isRight else { throw MissingBytes() }
        return isShort ? .bytes(bytes) : .file(file, range: range)
    }

    private static func part(_ range: Range<Int64>?, of bytes: [UInt8]) throws -> [UInt8] {
        guard let range, range.upperBound - range.lowerBound < Int64(bytes.count) else { return bytes }
        guard range.lowerBound >= 0, range.upperBound <= Int64(bytes.count) else { throw MissingBytes() }
        return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }

    /// Takes bytes: in memory while they are few, and then in a file that gets its name when it is whole.
    public func writer(for entry: CacheEntry, at offset: Int64) async throws -> any CacheWriter {
        // One of which nothing is there has no row.
        let isThere =
            try await entry.ranges.isEmpty
            ? false : askAtOnce { table in try table.row(of: entry).map { $0.body == nil } ?? false }
        return try DiskCacheWriter(self, folder, of: entry.id, extends: isThere, offset)
    }

    /// Replaces the head of an entry.
    public func update(_ entry: CacheEntry) async throws -> Bool {
        let growth = try await perform { try $0.update(entry) }
        // Nothing else would shorten the log of entries that are only validated.
        planMaintenance { $0.hasGrown = $0.hasGrown || growth ?? 0 > 0 }
        return growth != nil
    }

    /// Forgets the entries of a URL.
    public func remove(_ key: CacheKey) async throws {
        removals.remove(key.url)
        try await perform { try $0.remove(url: key) }
    }

    /// Forgets the entries of an origin, or all.
    public func removeAll(origin: String?) async throws {
        removals.removeAll(origin: origin)
        let bodies = try await enqueue { [self] in try removeRows(origin: origin, since: $0) }.value().get()
        // The log's room is given back later where another process was at it.
        planMaintenance { _ in }
        // Without the lock, and where nobody waits for anything else.
        let end = Suspension<Void>()
        DispatchQueue.global().async { [folder] in
            for id in bodies { unlink(folder.body(id)) }
            end.resume()
        }
        await end.value()
    }

    /// Opens the database though that was tried a moment ago, which everything else waits a second for.
    private func removeRows(origin: String?, since: ContinuousClock.Instant) throws -> [UInt64] {
        func remove() throws -> [UInt64] {
            state.withLock { $0.nextTry = .distantPast }
            return try ask(since: since) { try $0.removeAll(origin: origin) }
        }
        do {
            return try remove()
        } catch let error as DatabaseError where error.isDamage {
            // By now it has been put aside, with what is to be removed.
            folder.removeDamaged()
            return try remove()
        }
    }

    struct MissingBytes: Error {}

    /// Queries the database in the calling task, unless another query is running. Handing it over to another thread would take longer than the
    /// query itself, or than appending a row to the log, which waits for no disk.
    ///
    /// - Parameter question: Run again on the queue when it fails, for instance since another process holds the database.
    func askAtOnce<Value: Sendable>(_ question: @escaping @Sendable (EntryTable) throws -> Value) async throws -> Value {
        if let answer = answerNow(question) { return answer }
        return try await perform(question)
    }

    /// The same for what is only looked up. A cancelled caller stops waiting.
    private func look<Value: Sendable>(_ question: @escaping @Sendable (EntryTable) throws -> Value) async throws -> Value {
        if let answer = answerNow(question) { return answer }
        guard case .value(let answer) = await queued(question).wait() else { throw CancellationError() }
        return try answer.get()
    }

    private func answerNow<Value>(_ question: (EntryTable) throws -> Value) -> Value? {
        // Failures are handled on the queue, where there is time.
        state.withLockIfFree { state -> Value? in
            // There another one is opened, too.
            guard let table = state.table, table.isCurrent else { return nil }
            return try? table.database.waiting(atMost: .zero) { try question(table) }
        } ?? nil
    }

    /// Queries the database on the queue, one query after the other. Waits for the answer even when the task is cancelled: what a store has done
    /// counts though its reader has left.
    func perform<Value: Sendable>(_ question: @escaping @Sendable (EntryTable) throws -> Value) async throws -> Value {
        try await queued(question).value().get()
    }

    /// Begins to query the database on the queue.
    func queued<Value: Sendable>(
        _ question: @escaping @Sendable (EntryTable) throws -> Value
    ) -> Suspension<Result<Value, any Error>> {
        enqueue { [self] in try ask(since: $0, question) }
    }

    /// Tells the work since when it has been queued.
    private func enqueue<Value: Sendable>(
        _ work: @escaping @Sendable (ContinuousClock.Instant) throws -> Value
    ) -> Suspension<Result<Value, any Error>> {
        let (answer, now) = (Suspension<Result<Value, any Error>>(), ContinuousClock.now)
        queue.async { answer.resume(Result { try work(now) }) }
        return answer
    }

    /// - Parameter since: When the wait for the answer began. What another question has waited in vain since then counts for this one, too: if
    ///   each of a queue waited for a process that stands still, the last would wait as many times as long.
    private func ask<Value>(
        since: ContinuousClock.Instant = ContinuousClock.now, _ question: (EntryTable) throws -> Value
    ) throws -> Value {
        try state.withLock { state in
            do {
                let table = try self.table(&state)
                let waited = min(max(.zero, since.duration(to: state.gaveUp)), Database.patience)
                return try table.database.waiting(atMost: Database.patience - waited) { try question(table) }
            } catch let error as DatabaseError where error.isBusy {
                state.gaveUp = ContinuousClock.now
                throw error
            } catch let error as DatabaseError where error.isDamage {
                // Other processes keep the damaged file open until they find the damage, too, or that there is another one.
                let damaged = state.table?.file
                state.table = nil
                folder.putAside(damaged)
                throw error
            }
        }
    }

    private func table(_ state: inout State) throws -> EntryTable {
        if let table = state.table, table.isCurrent { return table }
        // What is stored and removed there would be so for nobody else.
        state.table = nil
        let now = Date()
        guard now >= state.nextTry || state.nextTry.timeIntervalSince(now) > 1 else { throw MissingBytes() }
        state.nextTry = now + 1
        let table = try Self.open(folder, now)
        state.table = table
        // Whoever asks first doesn't wait for that.
        queue.async { [weak self, folder] in self?.sweep(folder.bodyNames[...]) }
        // A process that ends within a second leaves what it has written to the next one.
        queue.async { [weak self] in self?.maintain() }
        return table
    }

    /// Removes bodies that nothing belongs to: some, and the rest behind queries that wait.
    private func sweep(_ names: ArraySlice<String>) {
        guard !names.isEmpty else { return }
        // Others may just be written. Without the lock, since to look at a file takes longer than a query.
        let old = folder.old(names.prefix(100), now: Date(), seconds: 3600)
        if !old.isEmpty {
            state.withLock { state in
                if let table = state.table, table.isCurrent { table.sweep(old) }
            }
        }
        queue.async { [weak self] in self?.sweep(names.dropFirst(100)) }
    }

    private static func open(_ folder: CacheFolder, _ now: Date) throws -> EntryTable {
        let file = folder.currentDatabase
        do {
            return try EntryTable(folder, now: now)
        } catch let error as DatabaseError where error.isDamage {
            folder.putAside(file)
            return try EntryTable(folder, now: now)
        }
    }

    /// Plans maintenance in a second, for all requests until then. In real time, as room on the disk is used up in it.
    private func planMaintenance(_ note: (inout Chores) -> Void) {
        let isFirst = chores.withLock { chores in
            note(&chores)
            defer { chores.isPlanned = true }
            return !chores.isPlanned
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.maintain() }
    }

    /// Plans to make room for bytes written.
    func hasGrown() { planMaintenance { $0.hasGrown = true } }

    /// Counts hits, and makes room. After hits alone, which add nothing, it looks for that once a minute.
    private func maintain(
        afterWrite: Bool = false, _ onStep: @escaping @Sendable () -> Void = {}, _ done: @escaping @Sendable () -> Void = {}
    ) {
        let now = ContinuousClock.now
        let (hits, looks) = chores.withLock { chores in
            let looks = afterWrite || chores.hasGrown || chores.nextLook <= now
            defer { chores = Chores(nextLook: looks ? now + .seconds(60) : chores.nextLook) }
            return (chores.hits, looks)
        }
        try? ask(since: now) { try $0.count(hits) }
        makeRoom(looks ? (try? ask(since: now) { try $0.room(maximumBytes: maximumBytes) }) : nil, onStep, done)
    }

    /// Removes some entries, and the rest behind queries that wait.
    private func makeRoom(
        _ room: EntryTable.Room?, _ onStep: @escaping @Sendable () -> Void, _ done: @escaping @Sendable () -> Void
    ) {
        guard var room, (try? ask { try $0.evict(&room) }) == true else {
            try? ask { $0.tidy() }
            return done()
        }
        onStep()
        queue.async { [weak self, room] in self?.makeRoom(room, onStep, done) }
    }

    /// Runs planned maintenance at once, for tests; by default as after a write.
    func maintainNow(afterWrite: Bool = true, onStep: @escaping @Sendable () -> Void = {}) async {
        let end = Suspension<Void>()
        queue.async { [self] in maintain(afterWrite: afterWrite, onStep) { end.resume() } }
        await end.value()
    }
}
