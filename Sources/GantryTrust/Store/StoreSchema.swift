import CSQLite

/// The tables of `paired.sqlite`, and how a file comes to have them.
enum StoreSchema {
    /// `PRAGMA user_version`. A file with a higher number is read, never written.
    static let version: Int64 = 1

    static let statements = [
        """
        CREATE TABLE IF NOT EXISTS device (
            key_id BLOB NOT NULL PRIMARY KEY CHECK (length(key_id) = 32),
            spki BLOB NOT NULL,
            kind INTEGER NOT NULL,
            name TEXT NOT NULL,
            alias TEXT,
            via INTEGER NOT NULL,
            confirmed INTEGER NOT NULL,
            state INTEGER NOT NULL,
            paired_at INTEGER NOT NULL,
            last_seen INTEGER,
            last_address TEXT
        )
        """,
        "CREATE INDEX IF NOT EXISTS device_displayed ON device (coalesce(alias, name))",
        // Keys that were removed: their owners are told so when they come again.
        """
        CREATE TABLE IF NOT EXISTS tombstone (
            key_id BLOB NOT NULL PRIMARY KEY CHECK (length(key_id) = 32),
            removed_at INTEGER NOT NULL
        )
        """,
    ]

    static let columns =
        "key_id, spki, kind, name, alias, via, confirmed, state, paired_at, last_seen, last_address"

    /// Sets up a connection; makes the tables in an empty file. True when the file is of a newer Gantry: the
    /// connection then refuses to write.
    static func prepare(_ database: SQLiteDatabase) throws(SQLiteError) -> Bool {
        database.setBusyTimeout(milliseconds: 2000)
        try database.run("PRAGMA trusted_schema = OFF")
        try database.run("PRAGMA cell_size_check = ON")
        if try fileVersion(database) > version {
            try database.run("PRAGMA query_only = ON")
            return true
        }
        // Where the file system has no shared memory, SQLite stays with a rollback journal: slower, as safe.
        try database.run("PRAGMA journal_mode = WAL")
        try database.run("PRAGMA synchronous = FULL")
        if try fileVersion(database) < version {
            try database.transaction { () throws(SQLiteError) in
                for statement in statements { try database.run(statement) }
                try database.run("PRAGMA user_version = \(version)")
            }
        }
        return false
    }

    /// Whether SQLite finds nothing wrong with the file.
    static func isSound(_ database: SQLiteDatabase) throws(SQLiteError) -> Bool {
        var isSound = false
        try database.run("PRAGMA quick_check(1)") { row in
            isSound = row.optionalText(0) == "ok"
            return false
        }
        return isSound
    }

    /// Whether the tables and columns that we read are there.
    static func hasTables(_ database: SQLiteDatabase) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            try database.run("SELECT \(columns) FROM device LIMIT 1")
            try database.run("SELECT key_id, removed_at FROM tombstone LIMIT 1")
            return true
        } catch {
            if error.code == SQLITE_ERROR { return false }  // No such table or column.
            throw error
        }
    }

    private static func fileVersion(_ database: SQLiteDatabase) throws(SQLiteError) -> Int64 {
        try database.integer("PRAGMA user_version") ?? 0
    }
}
