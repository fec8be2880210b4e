internal import Foundation
internal import Interception
internal import MidstreamCache
internal import MidstreamCore
internal import Platform

/// The rows of a cache on disk. Used by one thread at a time.
///
/// URLs and owners are there as salted hashes, so that nothing of a request can be read. Each head has a checksum.
final class EntryTable {
    /// A row that has been read.
    struct Row {
        var entry: CacheEntry
        /// Nil when the body is a file.
        var body: [UInt8]?
        var fileBytes: Int64
    }

    let folder: CacheFolder
    let salt: [UInt8]
    private let database: Database
    private let fingerprint: Fingerprint
    private let lock: FolderLock
    /// What stands for the owner of what is anybody's.
    private let anybody: Database.Value
    private var lastURL: (text: String, hash: Database.Value)?
    private var lastOrigin: (text: String, hash: Database.Value)?

    /// Opens the tables, makes them where there are none, and removes what nothing belongs to.
    init(_ folder: CacheFolder, now: Date) throws {
        try folder.prepare()
        self.folder = folder
        database = try Database(path: folder.database)
        lock = FolderLock("\(folder.path)/checkpoint.lock")
        try database.execute(
            """
            PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0; PRAGMA wal_autocheckpoint=0;
            CREATE TABLE IF NOT EXISTS settings (name INTEGER PRIMARY KEY, value BLOB NOT NULL);
            CREATE TABLE IF NOT EXISTS entries (
                place INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL UNIQUE, url BLOB NOT NULL, owner BLOB NOT NULL,
                origin BLOB NOT NULL, head BLOB NOT NULL, checksum INTEGER NOT NULL, body BLOB, file INTEGER NOT NULL,
                size INTEGER NOT NULL, hits INTEGER NOT NULL DEFAULT 0, main INTEGER NOT NULL DEFAULT 0);
            CREATE INDEX IF NOT EXISTS by_url ON entries (url, owner);
            CREATE INDEX IF NOT EXISTS by_origin ON entries (origin);
            CREATE INDEX IF NOT EXISTS by_age ON entries (main, place, size);
            """)
        try database.run("INSERT OR IGNORE INTO settings VALUES (0, ?)", .blob(Fingerprint.randomSalt()))
        guard let salt = try database.run("SELECT value FROM settings WHERE name = 0").first?.first?.blob else {
            throw DatabaseError(code: 11, description: "the salt is missing")
        }
        self.salt = salt
        fingerprint = Fingerprint(salt: salt)
        anybody = Self.hash("owner", "", fingerprint)
        folder.sweep(now: now) { id in
            (try? database.run("SELECT 1 FROM entries WHERE id = ?", .integer(Int64(bitPattern: id))))?.isEmpty != true
        }
    }

    /// The entries of a key, the newest first, that with its body if it has no file. What isn't as it was written is removed.
    func entries(for key: CacheKey) throws -> [CacheEntry] {
        var entries: [CacheEntry] = []
        var damaged: [Int64] = []
        try database.forEachRow(
            """
            SELECT id, head, checksum, body FROM entries WHERE url = ? AND owner = ? ORDER BY place DESC
            LIMIT \(Self.maximumVariants)
            """, [url(key), owner(key)]
        ) { row in
            guard let id = row.integer(0), let head = row.blob(1) else { return }
            guard var entry = Self.entry(head, row[2], key) else { return damaged.append(id) }
            // Most keys have one, and of the others the newest is asked for most.
            if entries.isEmpty, let body = row.blob(3), Int64(body.count) == entry.length { entry.body = body }
            entries.append(entry)
        }
        for id in damaged { try remove(id) }
        return entries
    }

    /// Does something without waiting for other connections: what they hold makes it fail at once.
    func withoutWaiting<Result>(_ work: () throws -> Result) throws -> Result { try database.withoutWaiting(work) }

    /// The row of an entry; nil when there is none.
    func row(of entry: CacheEntry) throws -> Row? {
        let id = Int64(bitPattern: entry.id)
        guard let row = try database.run("SELECT head, checksum, body, file FROM entries WHERE id = ?", .integer(id)).first,
            let head = row[0].blob, let file = row[3].integer
        else { return nil }
        guard let stored = Self.entry(head, row[1], entry.key) else {
            try remove(id)
            return nil
        }
        return Row(entry: stored, body: row[2].blob, fileBytes: file)
    }

    /// Puts an entry in the place of those that it replaces.
    ///
    /// - Parameters:
    ///   - body: Nil when it is in its file.
    ///   - file: How many bytes its file has.
    ///   - isCurrent: Asked when no other may change anything any more; with false nothing is done.
    /// - Returns: What it was.
    func insert(_ entry: CacheEntry, body: [UInt8]?, file: Int64, if isCurrent: () -> Bool) throws -> Bool {
        let replaced = try database.transaction { () -> [CacheEntry]? in
            guard isCurrent() else { return nil }
            let others = try entries(for: entry.key)
            let replaced = others.filter { $0.id == entry.id || entry.replaces($0) } + others.dropFirst(Self.maximumVariants - 1)
            for other in replaced { try database.run("DELETE FROM entries WHERE id = ?", Self.id(other)) }
            let head = entry.encoded
            try database.run(
                """
                INSERT INTO entries (id, url, owner, origin, head, checksum, body, file, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, Self.id(entry), url(entry.key), owner(entry.key), origin(entry.key.origin), .blob(head),
                .integer(Self.checksum(head)), body.map { .blob($0) } ?? .null, .integer(file),
                .integer(entry.storedBytes + Int64(head.count) + 200))
            return replaced
        }
        guard let replaced else { return false }
        for other in replaced where other.id != entry.id { unlink(folder.body(other.id)) }
        return true
    }

    /// Replaces the head of an entry; false when it isn't there any more.
    func update(_ entry: CacheEntry) throws -> Bool {
        let head = entry.encoded
        try database.run(
            "UPDATE entries SET head = ?, checksum = ? WHERE id = ?", .blob(head), .integer(Self.checksum(head)), Self.id(entry))
        return database.changes > 0
    }

    /// Notes that more of an entry is in its file; false when it isn't there any more.
    func extend(_ entry: CacheEntry, file: Int64) throws -> Bool {
        let head = entry.encoded
        try database.run(
            "UPDATE entries SET head = ?, checksum = ?, file = max(file, ?), size = ? WHERE id = ? AND body IS NULL", .blob(head),
            .integer(Self.checksum(head)), .integer(file), .integer(entry.storedBytes + Int64(head.count) + 200), Self.id(entry))
        return database.changes > 0
    }

    func remove(url key: CacheKey) throws { try removeRows("url = ?", url(key)) }

    func removeAll(origin name: String?) throws {
        if let name { try removeRows("origin = ?", origin(name)) } else { try removeRows("? IS NULL", .null) }
    }

    func remove(_ id: Int64) throws { try removeRows("id = ?", .integer(id)) }

    /// Counts what was asked for, lets go of what is asked for rarely until no more is there than may be, and tidies up the log.
    func maintain(hits: [UInt64: Int], maximumBytes: Int64) throws {
        if !hits.isEmpty {
            try database.transaction {
                for (id, count) in hits {
                    try database.run(
                        "UPDATE entries SET hits = min(3, hits + ?) WHERE id = ?", .integer(Int64(count)),
                        .integer(Int64(bitPattern: id)))
                }
            }
        }
        while try evict(maximumBytes) {}
        if lock.isHeld() { database.checkpoint() }
    }

    /// How many bytes there are.
    func bytes() throws -> Int64 { try database.run("SELECT coalesce(sum(size), 0) FROM entries").first?[0].integer ?? 0 }

    /// Looks at the entries whose turn it is, some at a time (S3-FIFO, as in memory, without its memory of what has left); whether to go on.
    private func evict(_ maximumBytes: Int64) throws -> Bool {
        let sums = try database.run("SELECT main, sum(size), count(*) FROM entries GROUP BY main")
        let bytes = sums.reduce(0) { $0 + ($1[1].integer ?? 0) }
        let count = sums.reduce(0) { $0 + ($1[2].integer ?? 0) }
        guard bytes > maximumBytes, count > 0 else { return false }
        let small = sums.first { $0[0] == .integer(0) }?[1].integer ?? 0
        let queue: Int64 = small > maximumBytes / 10 || small == bytes ? 0 : 1
        let mean = bytes / count
        var excess = bytes - maximumBytes
        let removed = try database.transaction {
            var removed: [UInt64] = []
            let rows = try database.run(
                "SELECT id, size, hits FROM entries WHERE main = ? ORDER BY place LIMIT 100", .integer(queue))
            for row in rows where excess > 0 {
                guard let id = row[0].integer, let size = row[1].integer, let hits = row[2].integer else { continue }
                let needed: Int64 = size <= mean ? 1 : size <= 4 * mean ? 2 : 3
                if hits >= needed {
                    try database.run(
                        """
                        UPDATE entries SET main = 1, hits = ?, place = (SELECT max(place) + 1 FROM entries) WHERE id = ?
                        """, .integer(queue == 0 ? 0 : hits - needed), .integer(id))
                } else {
                    try database.run("DELETE FROM entries WHERE id = ?", .integer(id))
                    excess -= size
                    removed.append(UInt64(bitPattern: id))
                }
            }
            return removed
        }
        for id in removed { unlink(folder.body(id)) }
        return true
    }

    private func removeRows(_ condition: String, _ value: Database.Value) throws {
        let rows = try database.run("DELETE FROM entries WHERE \(condition) RETURNING id, body IS NULL", value)
        for row in rows where row[1] == .integer(1) {
            if let id = row[0].integer { unlink(folder.body(UInt64(bitPattern: id))) }
        }
    }

    private static let maximumVariants = 32
    private static func id(_ entry: CacheEntry) -> Database.Value { .integer(Int64(bitPattern: entry.id)) }
    private func owner(_ key: CacheKey) -> Database.Value { key.partition.isEmpty ? anybody : hash("owner", key.partition) }

    /// What is stored was looked up just before.
    private func url(_ key: CacheKey) -> Database.Value {
        if let lastURL, lastURL.text == key.url { return lastURL.hash }
        let hash = hash("url", key.url)
        lastURL = (key.url, hash)
        return hash
    }

    /// Most of what is stored one after the other is of one origin.
    private func origin(_ name: String) -> Database.Value {
        if let lastOrigin, lastOrigin.text == name { return lastOrigin.hash }
        let hash = hash("origin", name)
        lastOrigin = (name, hash)
        return hash
    }

    private func hash(_ kind: String, _ text: String) -> Database.Value { Self.hash(kind, text, fingerprint) }

    private static func hash(_ kind: String, _ text: String, _ fingerprint: Fingerprint) -> Database.Value {
        .blob(Array(fingerprint.text(of: [kind, text]).utf8))
    }

    private static func entry(_ head: [UInt8], _ checksum: Database.Value, _ key: CacheKey) -> CacheEntry? {
        checksum == .integer(Self.checksum(head)) ? CacheEntry(head, key: key) : nil
    }

    /// FNV-1a, against damage and not against anybody.
    private static func checksum(_ bytes: [UInt8]) -> Int64 {
        Int64(bitPattern: bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    }
}
