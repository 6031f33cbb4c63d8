package import GantryCore
import GantryPlatform
import Glibc

/// Looks at an output path before anything is written, so that what is wrong with it is told at once.
package enum OutputPath {
    /// - Throws: what opening the file would throw: `outputNotWritable` for a missing folder, a folder, a file that
    ///   exists (without `overwrite`), missing permission.
    package static func check(_ path: String, overwrite: Bool) throws(GantryError) {
        if path == "-" { return }
        func fail(_ errno: CInt) -> GantryError {
            OutputFile.error(SystemError(errno: errno, during: "open"), path: path)
        }
        var status = stat()
        if stat(path, &status) == 0 {
            let kind = status.st_mode & S_IFMT
            if kind == S_IFDIR { throw fail(EISDIR) }
            if kind == S_IFREG && !overwrite { throw fail(EEXIST) }
            if access(path, W_OK) != 0 { throw fail(errno) }
            return
        }
        let folder = OutputFile.parent(of: path)
        guard stat(folder, &status) == 0 else { throw fail(ENOENT) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw fail(ENOTDIR) }
        if access(folder, W_OK) != 0 { throw fail(errno) }
    }

    /// Whether writing to `path` makes or changes a regular file, rather than feeding a pipe or a device.
    package static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        if path == "-" { return fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG }
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
}
