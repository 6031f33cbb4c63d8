import CSQLite

/// The row that a statement stands on. Valid until the statement steps on.
struct SQLiteRow {
    /// Bytes of a value that are taken: what Gantry writes is far below, and the file may hold anything.
    static let longestValue = 64 << 10

    let statement: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// What is not UTF-8 is repaired; a longer text is cut.
    func optionalText(_ column: Int32) -> String? {
        guard !isNull(column), let text = sqlite3_column_text(statement, column) else { return nil }
        let count = min(Int(sqlite3_column_bytes(statement, column)), Self.longestValue)
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// Empty for a longer one.
    func blob(_ column: Int32) -> [UInt8] {
        let bytes = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return count > Self.longestValue ? [] : Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
