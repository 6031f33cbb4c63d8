package import GantryCore

/// A regular file that text is appended to; made with the first piece. One thread at a time writes.
package final class TextFile: @unchecked Sendable {  // `file` belongs to the thread that writes.
    private let path: String
    private let overwrite: Bool
    private var file: OutputFile?

    /// - Throws: what is wrong with the path, at once; `invalidArgument` for a pipe or a device, which might hold the
    ///   writer up.
    package init(path: String, overwrite: Bool) throws(GantryError) {
        guard path != "-", OutputPath.isRegularFile(path) else {
            throw GantryError(.invalidArgument, "\(path) is no file. Give the name of a file.")
        }
        try OutputPath.check(path, overwrite: overwrite)
        self.path = path
        self.overwrite = overwrite
    }

    package func append(_ text: String) throws(GantryError) {
        if let file { return try file.write(text) }
        let new = try OutputFile(path: path, overwrite: overwrite)
        file = new
        try new.write(text)
    }
}
