package import GantryCore
import Glibc

/// Files in the state folder that nobody else may read or swap: plain file, mode 0600, one name, our own user.
///
/// Every error carries the code that the caller names (`.identity`, `.store`) and the command that repairs. Any thread.
package enum SecureFile {
    /// The whole file, or nil when there is none. A file over `limit` bytes is refused.
    package static func read(
        _ name: String, in folder: StateFolder, limit: Int, code: GantryError.Code
    ) throws(GantryError) -> [UInt8]? {
        let path = folder.file(name)
        guard let descriptor = try openChecked(path, code) else { return nil }
        var contents = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        do throws(SystemError) {
            while count < contents.count {
                let start = count
                let got = try syscall("read \(path)") {
                    contents.withUnsafeMutableBytes { buffer in
                        Glibc.read(descriptor.rawValue, buffer.baseAddress.map { $0 + start }, buffer.count - start)
                    }
                }
                if got == 0 { break }
                count += got
            }
        } catch {
            throw GantryError(code, "\(path) cannot be read.", cause: error.description)
        }
        guard count <= limit else {
            throw GantryError(
                code, "\(path) is larger than such a file can be. Move it away: mv \(quoted(path)) \(quoted(path)).old")
        }
        contents.removeLast(contents.count - count)
        return contents
    }

    /// Makes the file with `contents`, all of it or nothing, also when the power goes. False when the name is taken.
    ///
    /// Call it inside `folder.withExclusiveAccess`: two processes then cannot both succeed.
    package static func create(
        _ name: String, in folder: StateFolder, contents: UnsafeRawBufferPointer, code: GantryError.Code
    ) throws(GantryError) -> Bool {
        let path = folder.file(name)
        let draft = path + ".new"
        var status = stat()
        if lstat(path, &status) == 0 { return false }
        unlink(draft)  // Left by a process that died in the lines below.
        do throws(SystemError) {
            try write(contents, to: draft)
            try syscall("rename \(draft)") { rename(draft, path) }
            try folder.synchronize()
        } catch {
            unlink(draft)
            let remedy = error.errno == ENOSPC || error.errno == EDQUOT ? " Free some room on the disk." : ""
            throw GantryError(code, "\(path) cannot be written.\(remedy)", cause: error.description)
        }
        return true
    }

    private static func write(_ contents: UnsafeRawBufferPointer, to draft: String) throws(SystemError) {
        let descriptor = FileDescriptor(
            takingOwnership: try syscall("create \(draft)") {
                open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            })
        try syscall("fchmod \(draft)") { fchmod(descriptor.rawValue, 0o600) }  // Whatever the umask.
        try descriptor.writeAll(contents)
        try syscall("fsync \(draft)") { fsync(descriptor.rawValue) }
    }

    /// Whether the file exists. Throws when it does and is not as it should be.
    ///
    /// The file is not opened: closing it would drop the locks (fcntl) that SQLite holds on it in this process.
    package static func check(_ name: String, in folder: StateFolder, code: GantryError.Code) throws(GantryError)
        -> Bool
    {
        let path = folder.file(name)
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return false }
            let cause = SystemError(errno: errno, during: "stat \(path)").description
            throw GantryError(code, "\(path) cannot be looked at.", cause: cause)
        }
        if status.st_mode & S_IFMT == S_IFLNK { throw link(path, code) }
        try check(status, path, code)
        return true
    }

    /// For a command that a person pastes into a shell.
    package static func quoted(_ path: String) -> String {
        let safe = path.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        if safe && !path.isEmpty && path.utf8.first != UInt8(ascii: "-") { return path }
        return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// Nil when there is no such file.
    private static func openChecked(_ path: String, _ code: GantryError.Code) throws(GantryError) -> FileDescriptor? {
        let quoted = quoted(path)
        let descriptor: FileDescriptor
        var status = stat()
        do throws(SystemError) {
            // O_NONBLOCK: a pipe in this place must not hang us.
            descriptor = FileDescriptor(
                takingOwnership: try syscall("open \(path)") {
                    open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
                })
            try syscall("fstat \(path)") { fstat(descriptor.rawValue, &status) }
        } catch {
            switch error.errno {
            case ENOENT: return nil
            case ELOOP: throw link(path, code)
            case EACCES:
                throw GantryError(
                    code,
                    "\(path) may not be read. Make it yours: sudo chown \(geteuid()) \(quoted) && chmod 600 \(quoted)",
                    cause: error.description)
            default: throw GantryError(code, "\(path) cannot be opened.", cause: error.description)
            }
        }
        try check(status, path, code)
        return descriptor
    }

    private static func check(_ status: stat, _ path: String, _ code: GantryError.Code) throws(GantryError) {
        let quoted = quoted(path)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw GantryError(code, "\(path) is not a plain file. Move it away: mv \(quoted) \(quoted).old")
        }
        guard status.st_uid == geteuid() else {
            throw GantryError(
                code,
                "\(path) belongs to another user (number \(status.st_uid)). "
                    + "Make it yours: sudo chown \(geteuid()) \(quoted)")
        }
        guard status.st_nlink == 1 else {
            throw GantryError(
                code,
                "\(path) has a second name somewhere (a hard link), which is not safe. Make it a file of its own: "
                    + "cp -p \(quoted) \(quoted).copy && mv \(quoted).copy \(quoted)")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw GantryError(code, "\(path) is open to other users. Close it: chmod 600 \(quoted)")
        }
    }

    private static func link(_ path: String, _ code: GantryError.Code) -> GantryError {
        let quoted = quoted(path)
        return GantryError(
            code,
            "\(path) is a symbolic link, which is not safe. Put the file itself there: "
                + "cp --remove-destination \"$(readlink -f \(quoted))\" \(quoted) && chmod 600 \(quoted)")
    }
}
