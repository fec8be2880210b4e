#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CMidstreamSQLite
#endif

/// What SQLite says went wrong.
struct DatabaseError: Error, CustomStringConvertible {
    let code: Int32
    let description: String

    /// Whether the file isn't a database, or no longer one.
    var isDamage: Bool { code & 0xFF == SQLITE_CORRUPT || code & 0xFF == SQLITE_NOTADB }
    /// Whether another connection was waited for in vain.
    var isBusy: Bool { code & 0xFF == SQLITE_BUSY }
}

/// One connection to an SQLite database. Used by one thread at a time; who owns it sees to that.
final class Database {
    /// A value of a row or a statement.
    enum Value: Equatable {
        case null
        case integer(Int64)
        case blob([UInt8])

        var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
        var blob: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
    }

    private let connection: OpaquePointer
    /// Those that have been compiled, by their text.
    private var statements: [String: OpaquePointer] = [:]

    /// Opens a file.
    init(path: String) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw DatabaseError(code: code, description: "the database can't be opened")
        }
        connection = opened
        sqlite3_extended_result_codes(connection, 1)
        setPatience(Self.patience)
    }

    /// How long another connection is waited for.
    static let patience = Duration.milliseconds(250)

    private func setPatience(_ time: Duration) { sqlite3_busy_timeout(connection, Int32(time / .milliseconds(1))) }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(connection)
    }

    /// Runs statements without values, once.
    func execute(_ sql: String) throws {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs a statement, and gives its rows.
    @discardableResult
    func run(_ sql: String, _ values: Value...) throws -> [[Value]] {
        var rows: [[Value]] = []
        try forEachRow(sql, values) { row in rows.append((0..<row.count).map { row[$0] }) }
        return rows
    }

    /// A row while it is read.
    struct Row {
        fileprivate let statement: OpaquePointer

        var count: Int32 { sqlite3_column_count(statement) }

        subscript(column: Int32) -> Value {
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
            case SQLITE_BLOB: .blob(bytes(column))
            default: .null
            }
        }

        private func bytes(_ column: Int32) -> [UInt8] {
            let start = sqlite3_column_blob(statement, column)
            return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
        }
    }

    /// Runs a statement, and hands over its rows one after the other. What isn't asked of a row isn't read.
    func forEachRow(_ sql: String, _ values: [Value], _ read: (Row) throws -> Void) throws {
        let statement = try prepared(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (place, value) in values.enumerated() {
            let code = bind(value, to: statement, at: Int32(place + 1))
            guard code == SQLITE_OK else { throw failure(code) }
        }
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(code) }
            try read(Row(statement: statement))
        }
    }

    /// Does something that waits for other connections no longer than that: what they hold then makes it fail.
    func waiting<Result>(atMost time: Duration, _ work: () throws -> Result) throws -> Result {
        setPatience(time)
        defer { setPatience(Self.patience) }
        return try work()
    }

    /// Does several things, or none of them.
    func transaction<Result>(_ work: () throws -> Result) throws -> Result {
        try run("BEGIN IMMEDIATE")
        do {
            let result = try work()
            try run("COMMIT")
            return result
        } catch {
            _ = try? run("ROLLBACK")
            throw error
        }
    }

    /// Moves what the log holds into the database, as far as nobody reads it.
    ///
    /// - Parameter isWhole: Whether others are kept from writing meanwhile and the log's file is emptied. So it is as well when that has more than
    ///   16 MiB: while others write to it all the time, it would never be begun anew.
    func checkpoint(isWhole: Bool = false) {
        var frames: Int32 = 0
        sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, &frames, nil)
        guard isWhole || frames > 4096 else { return }
        // One who reads holds up all who write.
        setPatience(.milliseconds(50))
        sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        setPatience(Self.patience)
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: Value, to statement: OpaquePointer, at place: Int32) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(statement, place)
        case .integer(let number): sqlite3_bind_int64(statement, place, number)
        case .blob(let bytes):
            // Copied, since it has to live until the statement has run.
            sqlite3_bind_blob64(statement, place, bytes, UInt64(bytes.count), Self.copied)
        }
    }

    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private func failure(_ code: Int32) -> DatabaseError {
        DatabaseError(code: code, description: String(cString: sqlite3_errstr(code)))
    }
}
