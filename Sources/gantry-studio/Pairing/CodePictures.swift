import GantryCore
import GantryMedia
import GantryPlatform
import Glibc

/// The code as picture files, which hold a secret: for the user's eyes only, and removed at the end.
///
/// Any thread.
final class CodePictures: @unchecked Sendable {  // `written` and `isRemoved` are guarded by `lock`.
    private struct Written: Hashable {
        let path: String
        let device: dev_t
        let inode: ino_t
    }

    private let png: String?
    private let svg: String?
    private let lock = Lock()
    private var written: Set<Written> = []
    private var isRemoved = false

    /// - Parameters:
    ///   - png: a path, or "-" for standard output.
    ///   - svg: as `png`.
    ///   - usesStandardOutput: text goes there.
    /// - Throws: `invalidArgument`, and what writing there would throw.
    init(png: String?, svg: String?, usesStandardOutput: Bool) throws(GantryError) {
        let onStandardOutput = [png, svg].count { $0 == "-" }
        guard onStandardOutput == 0 || (onStandardOutput == 1 && !usesStandardOutput) else {
            throw GantryError(
                .invalidArgument, "Only one thing fits on standard output: --json, --text, --png - or --svg -.")
        }
        guard onStandardOutput == 0 || !StandardStreams.isOutputTerminal else {
            throw GantryError(
                .invalidArgument, "A picture does not go to a terminal. Name a file, or send it into a pipe.")
        }
        self.png = png
        self.svg = svg
        for path in [png, svg].compactMap({ $0 }) {
            try OutputPath.check(path, overwrite: true)
            try Self.checkOwner(path)
        }
        // From the first byte on, the part files included: only the owner may read what this process writes.
        umask(0o077)
    }

    /// The files, as the user named them.
    var paths: [String] { [png, svg].compactMap { $0 } }

    /// Writes all pictures of `code` in the place of the ones before, each at one blow. Nothing after `remove`.
    ///
    /// - Throws: `outputNotWritable`, `outputFull`, `outputClosed`, `outputFailed`.
    func write(_ code: QRCode) throws(GantryError) {
        try lock.withLock { () throws(GantryError) in
            guard !isRemoved else { return }
            for path in [png, svg].compactMap({ $0 }) { try Self.checkOwner(path) }
            if let png {
                try QRImage.writePNG(code, to: png)
                note(png)
            }
            if let svg {
                try QRImage.writeSVG(code, to: svg)
                note(svg)
            }
        }
    }

    /// Removes the pictures. A file that somebody else has put in the place of ours stays; so do pipes and devices.
    func remove() {
        lock.withLock {
            isRemoved = true
            for file in written where Self.look(at: file.path) == file { unlink(file.path) }
            written = []
        }
    }

    /// A pipe that somebody else has put there (in a folder for all, such as /tmp) would hand him the code. Files are
    /// replaced, not written to; what is open already (/dev/stdout under sudo) is the user's choice.
    private static func checkOwner(_ path: String) throws(GantryError) {
        var status = stat()
        guard path != "-", !path.hasPrefix("/dev/"), !path.hasPrefix("/proc/"), stat(path, &status) == 0,
            status.st_mode & S_IFMT == S_IFIFO, status.st_uid != geteuid(), status.st_uid != 0
        else { return }
        throw GantryError(
            .outputNotWritable,
            "\(path) belongs to another user, who could read the code. Choose a file in a folder of your own.")
    }

    private func note(_ path: String) {
        written = written.filter { $0.path != path }
        if let file = Self.look(at: path) { written.insert(file) }
    }

    private static func look(at path: String) -> Written? {
        var status = stat()
        guard path != "-", lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Written(path: path, device: status.st_dev, inode: status.st_ino)
    }
}
