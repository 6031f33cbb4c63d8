import GantryPlatform
import Glibc

/// Reads `/proc`, `/sys` and the like below a root folder, which tests set. Nothing throws: what is not there is nil. A value.
package struct SystemFiles: Sendable {
    private let root: String

    /// - Parameter root: goes before every path.
    package init(root: String = "") { self.root = root }

    package struct Status: Sendable, Hashable {
        package let owner: UInt32
        /// The nine bits of rwxrwxrwx.
        package let mode: UInt32
        package let isFolder: Bool
        package let group: UInt32
    }

    package func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    package func status(_ path: String) -> Status? {
        var status = stat()
        guard stat(root + path, &status) == 0 else { return nil }
        return Status(
            owner: status.st_uid, mode: status.st_mode & 0o777, isFolder: status.st_mode & S_IFMT == S_IFDIR,
            group: status.st_gid)
    }

    /// The beginning of a file, at most `limit` bytes.
    package func text(_ path: String, limit: Int = 1 << 20) -> String? {
        let opened = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { return nil }
        let file = FileDescriptor(takingOwnership: opened)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16384)
        while bytes.count < limit {
            let count = read(file.rawValue, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes.prefix(limit), as: UTF8.self)
    }

    package func lines(_ path: String) -> [Substring] { text(path)?.split(separator: "\n") ?? [] }
    /// Of a file with one line.
    package func line(_ path: String) -> String? { lines(path).first.map(String.init) }

    /// The names in a folder, sorted.
    package func entries(_ folder: String, limit: Int = 65536) -> [String] {
        guard let stream = opendir(root + folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Where a link leads to, as it is written.
    package func link(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(root + path, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
