import GantryCore
import GantryPlatform
import Glibc

/// Writes a whole file at once: readers see the old content or the new, never half of it.
enum AtomicFile {
    /// "-" goes to standard output. A file that exists is replaced only with `overwrite`.
    ///
    /// - Throws: `outputNotWritable`, `outputFull`, `outputClosed`, `outputFailed`; no part file stays behind.
    static func write(_ bytes: UnsafeRawBufferPointer, to path: String, overwrite: Bool) throws(GantryError) {
        if path == "-" || isSpecial(path) {
            return try OutputFile(path: path, overwrite: overwrite).write(bytes)
        }
        // In the same folder, so that the rename stays on one file system.
        let temporary = "\(path).\(getpid())-\(UInt32.random(in: 0...UInt32.max)).part"
        let file: OutputFile
        do throws(GantryError) {
            file = try OutputFile(path: temporary, overwrite: false)
        } catch {
            // The message names what the user gave.
            throw GantryError(error.code, renamed(error.message, temporary, path), cause: error.cause)
        }
        do throws(GantryError) {
            try file.write(bytes)
            try file.synchronize()
            try move(temporary, to: path, overwrite: overwrite)
        } catch {
            unlink(temporary)
            throw GantryError(error.code, renamed(error.message, temporary, path), cause: error.cause)
        }
    }

    private static func move(_ temporary: String, to path: String, overwrite: Bool) throws(GantryError) {
        do throws(SystemError) {
            if overwrite {
                try syscall("rename") { rename(temporary, path) }
            } else {
                try moveToFreeName(temporary, path)
            }
        } catch {
            throw OutputFile.error(error, path: path)
        }
    }

    /// Unlike rename, link fails when the name is taken. FAT knows no links: there a look beforehand must do.
    private static func moveToFreeName(_ temporary: String, _ path: String) throws(SystemError) {
        do throws(SystemError) {
            try syscall("link") { link(temporary, path) }
            unlink(temporary)
        } catch {
            guard error.errno == EPERM || error.errno == EOPNOTSUPP else { throw error }
            guard access(path, F_OK) != 0 else { throw SystemError(errno: EEXIST, during: "access") }
            try syscall("rename") { rename(temporary, path) }
        }
    }

    private static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
    }

    private static func renamed(_ message: String, _ temporary: String, _ path: String) -> String {
        guard let range = message.firstRange(of: temporary) else { return message }
        return message.replacingCharacters(in: range, with: path)
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
