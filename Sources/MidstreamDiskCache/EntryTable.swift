internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamPlatform

/// The rows of a cache on disk. Used by one thread at a time.
///
/// URLs and owners are there as salted hashes, so that nothing of a request can be read. Heads and bodies have checksums.
final class EntryTable {
    enum Body {
        case bytes([UInt8])
        case file(BodySums.Run)
    }

    /// A row that has been read.
    struct Row {
        var entry: CacheEntry
        /// Nil when the body is a file.
        var body: [UInt8]?
        /// Those of the file.
        var sums: BodySums
    }

    let folder: CacheFolder
    let salt: [UInt8]
    /// Its file, as far as that is known for certain.
    let file: FileIdentity?
    let database: Database
    private let fingerprint: Fingerprint
    /// What stands for the owner of what is anybody's.
    private lazy var anybody = hash("owner", "")
    /// The last URL and the last origin: what is stored was looked up just before, and most of what is stored one after the other is of one
    /// origin.
    private var last: [String: (text: String, hash: Database.Value)] = [:]

    /// Opens the tables, and makes them where there are none. Those of another version are removed, and all bodies with them.
    init(_ folder: CacheFolder, now: Date) throws {
        try folder.prepare()
        self.folder = folder
        // Before it is opened: what another process puts in its place now isn't taken for this one's.
        file = folder.currentDatabase
        database = try Database(path: folder.database)
        try database.execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0; PRAGMA wal_autocheckpoint=0")
        let wasOther = try Self.make(in: database)
        try database.run("INSERT OR IGNORE INTO settings VALUES (0, ?)", .blob(Fingerprint.randomSalt()))
        guard let salt = try database.run("SELECT value FROM settings WHERE name = 0").first?.first?.blob else {
            throw DatabaseError(code: 11, description: "the salt is missing")
        }
        self.salt = salt
        fingerprint = Fingerprint(salt: salt)
        if wasOther { sweep(folder.old(folder.bodyNames, now: now, seconds: 0)) }
    }

    /// Removes those of these bodies that belong to nothing.
    func sweep(_ names: [String]) {
        folder.sweep(names) { id in
            (try? database.run("SELECT 1 FROM entries WHERE id = ?", .integer(Int64(bitPattern: id))))?.isEmpty != true
        }
    }

    /// Whether others who open the database open the same one: none of them has put it aside, or removed it.
    var isCurrent: Bool { file != nil && file == folder.currentDatabase }

    /// Makes the tables where there are none, or those of another version, and says whether there were others.
    private static func make(in database: Database) throws -> Bool {
        func isMade() throws -> Bool { try database.run("PRAGMA user_version") == [[.integer(version)]] }
        if try isMade() { return false }
        return try database.transaction {
            if try isMade() { return false }
            let others = try database.run("SELECT 1 FROM sqlite_master WHERE name = 'entries'")
            try database.execute(
                """
                DROP TABLE IF EXISTS settings;
                DROP TABLE IF EXISTS entries;
                CREATE TABLE settings (name INTEGER PRIMARY KEY, value BLOB NOT NULL);
                CREATE TABLE entries (
                    place INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL UNIQUE, url BLOB NOT NULL, owner BLOB NOT NULL,
                    origin BLOB NOT NULL, head BLOB NOT NULL, checksum INTEGER NOT NULL, body BLOB, sums NOT NULL,
                    size INTEGER NOT NULL, hits INTEGER NOT NULL DEFAULT 0, main INTEGER NOT NULL DEFAULT 0);
                CREATE INDEX by_url ON entries (url, owner);
                CREATE INDEX by_origin ON entries (origin);
                CREATE INDEX by_age ON entries (main, place, size);
                PRAGMA user_version = \(version);
                """)
            return !others.isEmpty
        }
    }

    /// That of the tables, of the encoding of heads and of the checksums.
    private static let version: Int64 = 2

    /// The entries of a key, the newest first, one of them with its body if it has no file. What isn't as it was written is removed.
    func entries(for key: CacheKey) throws -> [CacheEntry] {
        var entries: [CacheEntry] = []
        var damaged: [Int64] = []
        try database.forEachRow(
            """
            SELECT id, head, checksum, body, sums FROM entries WHERE url = ? AND owner = ? ORDER BY place DESC
            LIMIT \(Self.maximumVariants)
            """, [url(key), owner(key)]
        ) { row in
            guard let id = row[0].integer, let head = row[1].blob else { return }
            guard var entry = Self.entry(id, head, row[2], key) else { return damaged.append(id) }
            // Most keys have one, and of the others the newest is asked for most. After some have stayed it may be another that comes with its
            // body, which costs the newest a query and no more.
            if entries.isEmpty, let body = row[3].blob {
                guard Self.isRight(body, of: entry, row[4]) else { return damaged.append(id) }
                entry = entry.with(body)
            }
            entries.append(entry)
        }
        for id in damaged { try remove(id) }
        // What has stayed since it was asked for has a new place.
        if entries.count > 1 { entries.sort { $0.head.requestTime > $1.head.requestTime } }
        return entries
    }

    /// The row of an entry; nil when there is none.
    func row(of entry: CacheEntry) throws -> Row? {
        let id = Int64(bitPattern: entry.id)
        guard let row = try database.run("SELECT head, checksum, body, sums FROM entries WHERE id = ?", .integer(id)).first,
            let head = row[0].blob
        else { return nil }
        guard let stored = Self.entry(id, head, row[1], entry.key), let sums = BodySums(row[3].blob ?? []),
            row[2].blob.map({ Self.isRight($0, of: stored, row[3]) }) ?? true
        else {
            try remove(id)
            return nil
        }
        return Row(entry: stored, body: row[2].blob, sums: sums)
    }

    /// Puts an entry in the place of those that it replaces, unless it is behind one of them.
    ///
    /// - Parameters:
    ///   - body: The body; or of one that is in its file what was written.
    ///   - isCurrent: Asked when no other may change anything any more; with false nothing is done.
    /// - Returns: Whether it is there.
    func insert(_ entry: CacheEntry, _ body: Body, if isCurrent: () -> Bool) throws -> Bool {
        let (bytes, sums) =
            switch body {
            case .bytes(let bytes): (Database.Value.blob(bytes), Self.checksum(bytes, entry.id))
            case .file(let run): (Database.Value.null, Database.Value.blob(BodySums(run).encoded))
            }
        let replaced = try database.transaction { () -> [CacheEntry]? in
            guard isCurrent() else { return nil }
            let others = try entries(for: entry.key)
            if others.contains(where: entry.isBehind) { return nil }
            let replaced = others.filter { $0.id == entry.id || entry.replaces($0) } + others.dropFirst(Self.maximumVariants - 1)
            for other in replaced { try database.run("DELETE FROM entries WHERE id = ?", Self.id(other)) }
            let head = entry.encoded
            try database.run(
                """
                INSERT INTO entries (id, url, owner, origin, head, checksum, body, sums, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, Self.id(entry), url(entry.key), owner(entry.key), origin(entry.key.origin), .blob(head),
                Self.checksum(head, entry.id), bytes, sums,
                Self.size(entry, head))
            return replaced
        }
        guard let replaced else { return false }
        for other in replaced where other.id != entry.id { unlink(folder.body(other.id)) }
        return true
    }

    /// Replaces the head of an entry, of which more may be there by now, and gives by how many bytes that is longer; nil when the entry isn't
    /// there any more.
    func update(_ entry: CacheEntry) throws -> Int? {
        try database.transaction {
            let row = try database.run("SELECT head, checksum FROM entries WHERE id = ?", Self.id(entry)).first
            guard let row, let former = row[0].blob,
                let old = Self.entry(Int64(bitPattern: entry.id), former, row[1], entry.key)
            else { return nil }
            let updated = old.with(entry.head)
            let head = updated.encoded
            try database.run(
                "UPDATE entries SET head = ?, checksum = ?, size = ? WHERE id = ?", .blob(head), Self.checksum(head, entry.id),
                Self.size(updated, head), Self.id(entry))
            return head.count - former.count
        }
    }

    /// Notes that more of an entry is in its file; false when it isn't there any more. What others have noted of it meanwhile stays.
    func extend(_ entry: CacheEntry, by run: BodySums.Run) throws -> Bool {
        try database.transaction {
            let query = "SELECT head, checksum, sums FROM entries WHERE id = ? AND body IS NULL"
            guard let row = try database.run(query, Self.id(entry)).first, let former = row[0].blob,
                let stored = Self.entry(Int64(bitPattern: entry.id), former, row[1], entry.key),
                var sums = row[2].blob.flatMap({ BodySums($0) })
            else { return false }
            sums.add(run)
            let extended = stored.adding(run.start..<run.end, of: entry.length).with(entry.keepingLaterHead(of: stored).head)
            let head = extended.encoded
            try database.run(
                "UPDATE entries SET head = ?, checksum = ?, sums = ?, size = ? WHERE id = ?", .blob(head),
                Self.checksum(head, entry.id), .blob(sums.encoded), Self.size(extended, head), Self.id(entry))
            return true
        }
    }

    func remove(url key: CacheKey) throws { try removeRows("url = ?", url(key)) }

    /// On the disk when it returns, so that a power failure brings nothing back. Apple's SQLite doesn't have the disk empty its own memory.
    ///
    /// - Returns: The bodies whose files are to be removed now, of which there may be many.
    func removeAll(origin name: String?) throws -> [UInt64] {
        try database.execute("PRAGMA synchronous=FULL")
        defer { try? database.execute("PRAGMA synchronous=NORMAL") }
        if let name { return try removedRows("origin = ?", origin(name)) }
        // What a damaged one held, too. Listed before, since what comes into the folder afterwards belongs to a new row.
        let names = folder.bodyNames
        folder.removeDamaged()
        // All pages go with the file's end, and to overwrite each before takes as much room again, which there may not be.
        let overwrites = try database.run("PRAGMA secure_delete").first?.first?.integer ?? 0
        try database.execute("PRAGMA secure_delete=OFF")
        defer { try? database.execute("PRAGMA secure_delete=\(["OFF", "ON", "FAST"][Int(min(max(overwrites, 0), 2))])") }
        let rows = try removedRows("? IS NULL", .null)
        try? database.execute("VACUUM")
        database.checkpoint(isWhole: true)
        return rows + names.compactMap { UInt64($0, radix: 16) }
    }

    func remove(_ id: Int64) throws { try removeRows("id = ?", .integer(id)) }

    /// Counts what was asked for.
    func count(_ hits: [UInt64: Int]) throws {
        guard !hits.isEmpty else { return }
        try database.transaction {
            for (id, count) in hits {
                try database.run(
                    "UPDATE entries SET hits = min(3, hits + ?) WHERE id = ?", .integer(Int64(count)),
                    .integer(Int64(bitPattern: id)))
            }
        }
    }

    /// Tidies up the log, unless another does.
    func tidy() { folder.alone { database.checkpoint() } }

    /// How many bytes there are.
    func bytes() throws -> Int64 { try database.run("SELECT \(Self.sum) FROM entries").first?[0].integer ?? 0 }

    /// What is there, and what may be. Sizes that nobody here can have written count as nothing.
    struct Room {
        fileprivate let maximumBytes: Int64
        /// The bytes of the small queue and of the main one.
        fileprivate var bytes: [Int64] = [0, 0]
        fileprivate var count: Int64 = 0
    }

    private static let possibleSizes = 0...(Int64(1) << 40)
    private static let sum = """
        coalesce(sum(CASE WHEN typeof(size) = 'integer' AND size BETWEEN \(possibleSizes.lowerBound) AND \(possibleSizes.upperBound)
        THEN size END), 0)
        """

    func room(maximumBytes: Int64) throws -> Room {
        try database.run("UPDATE entries SET main = 0 WHERE main < 0 OR main > 1")
        var room = Room(maximumBytes: maximumBytes)
        for row in try database.run("SELECT main, \(Self.sum), count(*) FROM entries GROUP BY main") {
            guard let queue = row[0].integer, let bytes = row[1].integer, let count = row[2].integer else { continue }
            room.bytes[queue == 0 ? 0 : 1] = bytes
            room.count += count
        }
        return room
    }

    /// Looks at the entries whose turn it is, some at a time (S3-FIFO, as in memory, without its memory of what has left); whether to go on.
    func evict(_ room: inout Room) throws -> Bool {
        let bytes = room.bytes[0] + room.bytes[1]
        guard bytes > room.maximumBytes, room.count > 0 else { return false }
        let queue = room.bytes[0] > room.maximumBytes / 10 || room.bytes[1] <= 0 ? 0 : 1
        let mean = bytes / room.count
        var next = room
        let removed = try database.transaction {
            var removed: [UInt64] = []
            let rows = try database.run(
                "SELECT place, id, size, hits FROM entries WHERE main = ? ORDER BY place LIMIT 100", .integer(Int64(queue)))
            // Others have made room.
            if rows.isEmpty { next.bytes[queue] = 0 }
            for row in rows where next.bytes[0] + next.bytes[1] > room.maximumBytes {
                let size = row[2].integer.flatMap { Self.possibleSizes.contains($0) ? $0 : nil } ?? 0
                let hits = min(3, row[3].integer ?? 0)
                let needed: Int64 = size <= mean ? 1 : size <= 4 * mean ? 2 : 3
                next.bytes[queue] -= size
                if hits >= needed {
                    try database.run(
                        """
                        UPDATE entries SET main = 1, hits = ?, place = (SELECT max(place) + 1 FROM entries) WHERE place = ?
                        """, .integer(queue == 0 ? 0 : hits - needed), row[0])
                    next.bytes[1] += size
                } else {
                    try database.run("DELETE FROM entries WHERE place = ?", row[0])
                    next.count -= 1
                    if let id = row[1].integer { removed.append(UInt64(bitPattern: id)) }
                }
            }
            return removed
        }
        room = next
        for id in removed { unlink(folder.body(id)) }
        return true
    }

    private func removeRows(_ condition: String, _ value: Database.Value) throws {
        for id in try removedRows(condition, value) { unlink(folder.body(id)) }
    }

    /// Removes rows, and returns the bodies that were files.
    private func removedRows(_ condition: String, _ value: Database.Value) throws -> [UInt64] {
        let rows = try database.run("DELETE FROM entries WHERE \(condition) RETURNING id, body IS NULL", value)
        return rows.compactMap { row in
            row[1] == .integer(1) ? row[0].integer.map { UInt64(bitPattern: $0) } : nil
        }
    }

    private static let maximumVariants = 32
    /// What an entry with this head counts as.
    private static func size(_ entry: CacheEntry, _ head: [UInt8]) -> Database.Value {
        .integer(entry.storedBytes + Int64(head.count) + 200)
    }

    private static func id(_ entry: CacheEntry) -> Database.Value { .integer(Int64(bitPattern: entry.id)) }
    private func owner(_ key: CacheKey) -> Database.Value { key.partition.isEmpty ? anybody : hash("owner", key.partition) }

    private func url(_ key: CacheKey) -> Database.Value { remembered("url", key.url) }
    private func origin(_ name: String) -> Database.Value { remembered("origin", name) }

    private func remembered(_ kind: String, _ text: String) -> Database.Value {
        if let last = last[kind], last.text == text { return last.hash }
        let hash = hash(kind, text)
        last[kind] = (text, hash)
        return hash
    }

    private func hash(_ kind: String, _ text: String) -> Database.Value {
        .blob(Array(fingerprint.text(of: [kind, text]).utf8))
    }

    private static func entry(_ id: Int64, _ head: [UInt8], _ checksum: Database.Value, _ key: CacheKey) -> CacheEntry? {
        checksum == Self.checksum(head, UInt64(bitPattern: id)) ? CacheEntry(head, key: key) : nil
    }

    private static func checksum(_ bytes: [UInt8], _ id: UInt64) -> Database.Value {
        .integer(Int64(bitPattern: BodySums.sum(bytes, id)))
    }

    /// Whether the body of a row is as it was written.
    private static func isRight(_ body: [UInt8], of entry: CacheEntry, _ sum: Database.Value) -> Bool {
        Int64(body.count) == entry.length && sum == checksum(body, entry.id)
    }
}
