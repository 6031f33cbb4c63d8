/// A result code of SQLite and its words.
struct SQLiteError: Error, CustomStringConvertible {
    /// The primary result code, https://www.sqlite.org/rescode.html.
    let code: Int32
    let description: String
}
