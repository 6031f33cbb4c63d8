package import GantryCore
import GantryPlatform
import Glibc

/// A file, pipe or device that media is written to, with errors that say what to do. One thread at a time uses it.
///
/// The first failure is kept: a library between us and the file sees only a number, and the owner asks `failure`.
/// Writing to a pipe whose reader has gone gives `outputClosed` only where SIGPIPE is ignored; the tools ignore it.
package final class OutputFile {
    /// As the user named it; "-" is standard output.
    package let path: String
    /// A regular file: it can be sought, patched and cut.
    package let isRegular: Bool
    /// Bytes written so far, patches not counted.
    package private(set) var byteCount: Int64 = 0
    package private(set) var failure: GantryError?
    private let descriptor: FileDescriptor

    /// Opens `path` for writing, or standard output for "-".
    ///
    /// - Parameter overwrite: empties a file that exists. Pipes and devices need no permission.
    /// - Throws: `outputNotWritable`, `outputFull`, `outputFailed`.
    package init(path: String, overwrite: Bool) throws(GantryError) {
        self.path = path
        do throws(SystemError) {
            let opened =
                path == "-"
                ? try syscall("dup") { fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) }
                : try Self.open(path, overwrite: overwrite)
            descriptor = FileDescriptor(takingOwnership: opened)
        } catch {
            throw Self.error(error, path: path)
        }
        isRegular = path != "-" && Self.isRegular(descriptor.rawValue)
        RawPipe.widen(descriptor.rawValue)
    }

    /// Takes over a descriptor that is open for writing. `path` is its name in messages.
    package init(takingOwnership descriptor: CInt, path: String) {
        self.path = path
        self.descriptor = FileDescriptor(takingOwnership: descriptor)
        isRegular = Self.isRegular(descriptor)
        RawPipe.widen(descriptor)
    }

    /// Writes all at the current position. After a failure every call throws it again.
    ///
    /// - Throws: `outputFull`, `outputClosed`, `outputFailed`.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(GantryError) {
        if let failure { throw failure }
        do throws(SystemError) {
            if isRegular { try descriptor.writeAll(bytes) } else { try writeInChunks(bytes) }
            byteCount &+= Int64(bytes.count)
        } catch {
            throw fail(error)
        }
    }

    private func writeInChunks(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            try descriptor.writeAll(UnsafeRawBufferPointer(rebasing: rest.prefix(RawPipe.chunk)))
            rest = rest.dropFirst(RawPipe.chunk)
        }
    }

    package func write(_ text: String) throws(GantryError) {
        try write(Array(text.utf8))
    }

    package func write(_ bytes: [UInt8]) throws(GantryError) {
        try bytes.withUnsafeBufferPointer { bytes throws(GantryError) in try write(UnsafeRawBufferPointer(bytes)) }
    }

    /// Writes over bytes that are there already; the position stays. Regular files only, otherwise nothing happens.
    package func patch(_ bytes: [UInt8], at offset: Int64) throws(GantryError) {
        guard isRegular, failure == nil else { return }
        do throws(SystemError) {
            try syscall("pwrite") { pwrite(descriptor.rawValue, bytes, bytes.count, off_t(offset)) }
        } catch {
            throw fail(error)
        }
    }

    /// As `lseek`: the new position, or nil when the file cannot be sought.
    package func seek(_ offset: Int64, _ whence: CInt) -> Int64? {
        guard isRegular else { return nil }
        let position = lseek(descriptor.rawValue, off_t(offset), whence)
        return position < 0 ? nil : Int64(position)
    }

    /// Where the next byte goes; what a pipe has taken so far.
    package var position: Int64 { seek(0, SEEK_CUR) ?? byteCount }

    /// Bytes in the file, or nil for pipes.
    package var size: Int64? {
        var status = stat()
        guard isRegular, fstat(descriptor.rawValue, &status) == 0 else { return nil }
        return Int64(status.st_size)
    }

    /// Cuts the file after `size` bytes, also after a failure: what stands before stays good.
    package func truncate(to size: Int64) {
        guard isRegular, ftruncate(descriptor.rawValue, off_t(size)) == 0 else { return }
        _ = lseek(descriptor.rawValue, off_t(size), SEEK_SET)
    }

    /// Waits until the bytes are on the device.
    package func synchronize() throws(GantryError) {
        guard isRegular else { return }
        do throws(SystemError) { try syscall("fsync") { fsync(descriptor.rawValue) } } catch { throw fail(error) }
    }

    private func fail(_ error: SystemError) -> GantryError {
        let translated = Self.error(error, path: path)
        if failure == nil { failure = translated }
        return translated
    }

    private static func open(_ path: String, overwrite: Bool) throws(SystemError) -> CInt {
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists && status.st_mode & S_IFMT != S_IFREG {
            return try syscall("open") { Glibc.open(path, O_WRONLY | O_CLOEXEC) }
        }
        let mode = overwrite ? O_TRUNC : O_EXCL
        // Read access too: libavformat may look back at what it wrote.
        return try syscall("open") { Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | mode, 0o644) }
    }

    private static func isRegular(_ descriptor: CInt) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// What the kernel said about `path`, as an error for people.
    static func error(_ error: SystemError, path: String) -> GantryError {
        let name = path == "-" ? "standard output" : path
        let cause = error.description
        switch error.errno {
        case ENOENT, ENOTDIR:
            let folder = parent(of: path)
            return GantryError(
                .outputNotWritable, "The folder of \(name) does not exist. Make it with: mkdir -p \(quoted(folder))",
                cause: cause)
        case EEXIST:
            return GantryError(
                .outputNotWritable,
                "\(name) exists already. Give another name, or have it replaced (with the tools: --force).")
        case EISDIR:
            return GantryError(.outputNotWritable, "\(name) is a folder. Give the name of a file.")
        case EACCES, EPERM, EROFS:
            return GantryError(
                .outputNotWritable,
                "\(name) may not be written. Choose another folder, or look at: ls -ld \(quoted(parent(of: path)))",
                cause: cause)
        case ENOSPC, EDQUOT, EFBIG:
            return GantryError(
                .outputFull,
                "No room is left for \(name). Make room (see: df -h \(quoted(parent(of: path)))), or choose another disk.",
                cause: cause)
        case EPIPE, ECONNRESET:
            return GantryError(.outputClosed, "The program that read \(name) has ended.", cause: cause)
        default:
            return GantryError(.outputFailed, "Writing to \(name) failed. Check the disk or the device.", cause: cause)
        }
    }

    /// The folder that `path` lies in.
    static func parent(of path: String) -> String {
        guard path != "-", let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Ready for a shell command line.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: byte >= 0x80
            }
        }
        if isPlain { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
