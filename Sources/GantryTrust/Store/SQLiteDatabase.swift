import CSQLite

/// One open database and its prepared statements. Used under the lock of its owner.
final class SQLiteDatabase {
    private let handle: OpaquePointer
    /// Prepared once for each text; the texts are constants of this target, so there are few.
    private var statements: [String: OpaquePointer] = [:]

    /// Opens an existing file.
    init(path: String) throws(SQLiteError) {
        var handle: OpaquePointer?
        // NOMUTEX: the owner's lock is enough.
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            let error = Self.error(handle, code)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 0)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// How long a statement waits for another process's write before it fails with SQLITE_BUSY.
    func setBusyTimeout(milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Runs one statement to its end, and passes each row to `row`, which returns false to stop.
    func run(_ sql: String, _ values: [SQLiteValue] = [], row: (SQLiteRow) -> Bool = { _ in true }) throws(SQLiteError)
    {
        let statement = try prepared(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, Int32(clamping: index + 1), statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: if !row(SQLiteRow(statement: statement)) { return }
            case SQLITE_DONE: return
            case let code: throw Self.error(handle, code)
            }
        }
    }

    /// The first column of the first row, or nil when there is none.
    func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> Int64? {
        var result: Int64?
        try run(sql, values) { row in
            result = row.integer(0)
            return false
        }
        return result
    }

    /// All of `body` or, when it throws, nothing of it.
    func transaction<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
        try run("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            try? run("ROLLBACK")  // Fails only when SQLite has rolled back by itself.
            throw error
        }
    }

    private func prepared(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw Self.error(handle, code) }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: SQLiteValue, _ index: Int32, _ statement: OpaquePointer) throws(SQLiteError) {
        let code =
            switch value {
            case .integer(let number): sqlite3_bind_int64(statement, index, number)
            case .text(let text): CSQLite_bind_text(statement, index, text, Int32(clamping: text.utf8.count))
            case .blob(let bytes): CSQLite_bind_blob(statement, index, bytes, Int32(clamping: bytes.count))
            case .null: sqlite3_bind_null(statement, index)
            }
        guard code == SQLITE_OK else { throw Self.error(handle, code) }
    }

    private static func error(_ handle: OpaquePointer?, _ code: Int32) -> SQLiteError {
        let words = handle.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        return SQLiteError(code: code & 0xff, description: words.map { String(cString: $0) } ?? "SQLite error \(code)")
    }
}
