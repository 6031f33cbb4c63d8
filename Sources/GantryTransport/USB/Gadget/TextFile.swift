import GantryPlatform
import Glibc

/// Small files of the kernel: configfs, sysfs, procfs.
enum TextFile {
    /// The whole text, up to `limit` bytes.
    static func read(_ path: String, limit: Int = 4096) throws(SystemError) -> String {
        let descriptor = FileDescriptor(
            takingOwnership: try syscall("open \(path)") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) })
        var contents: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while contents.count < limit {
            let count = try syscall("read \(path)") { Glibc.read(descriptor.rawValue, &piece, piece.count) }
            if count == 0 { break }
            contents += piece.prefix(min(count, limit - contents.count))
        }
        return String(decoding: contents, as: UTF8.self)
    }

    /// In one write, as the kernel's files want it: each call is one value.
    static func write(_ text: String, to path: String) throws(SystemError) {
        let descriptor = FileDescriptor(
            takingOwnership: try syscall("open \(path)") {
                open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
            })
        let bytes = Array(text.utf8)
        try syscall("write \(path)") { Glibc.write(descriptor.rawValue, bytes, bytes.count) }
    }
}
