package import GantryCore
import Glibc

/// The folder that holds the identity key and the store of paired devices. It exists, is ours alone (0700), and its
/// path is absolute unless the caller gave a relative one. A value; any thread.
package struct StateFolder: Sendable {
    package let path: String

    /// The path of a file in the folder.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Finds the folder, makes it (with its parents, 0700) when it is missing, and checks it.
    ///
    /// The first of these that is set counts: `explicit` (the option `--state-dir`), `$GANTRY_STATE_DIR`,
    /// `$STATE_DIRECTORY` (systemd.exec(5), the first of its list), `$XDG_STATE_HOME/gantry`,
    /// `$HOME/.local/state/gantry`.
    ///
    /// Throws `.stateFolder`, with the command that repairs a wrong owner, mode or link.
    package static func open(_ explicit: String?) throws(GantryError) -> StateFolder {
        let place = try place(explicit)
        try create(place.path)
        try check(place)
        return StateFolder(path: place.path)
    }

    /// Whether `open` would find a folder and not make one. For those who only want to look.
    package static func exists(_ explicit: String?) -> Bool {
        guard let place = try? place(explicit) else { return false }
        return access(place.path, R_OK | W_OK | X_OK) == 0
    }

    /// As `open`, without making anything; nil when the folder is not there.
    package static func existing(_ explicit: String?) throws(GantryError) -> StateFolder? {
        let place = try place(explicit)
        guard access(place.path, F_OK) == 0 else { return nil }
        try check(place)
        return StateFolder(path: place.path)
    }

    /// Runs `body` while no other process or thread is inside `withExclusiveAccess` of the same folder. Blocks until
    /// then; `body` is short (a few file operations). The kernel lets go of it when the process dies.
    package func withExclusiveAccess<R>(_ body: () throws(GantryError) -> R) throws(GantryError) -> R {
        let descriptor: FileDescriptor
        do throws(SystemError) {
            descriptor = FileDescriptor(
                takingOwnership: try syscall("open \(path)") { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
            try syscall("flock \(path)") { flock(descriptor.rawValue, LOCK_EX) }
        } catch {
            throw GantryError(
                .stateFolder, "The state folder \(path) cannot be locked. Use another one.",
                cause: error.description)
        }
        defer { withExtendedLifetime(descriptor) {} }
        return try body()
    }

    /// Puts new, renamed and removed names on the disk.
    package func synchronize() throws(SystemError) {
        let descriptor = FileDescriptor(
            takingOwnership: try syscall("open \(path)") { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        try syscall("fsync \(path)") { fsync(descriptor.rawValue) }
    }

    private struct Place {
        var path: String
        /// systemd makes `$STATE_DIRECTORY` a link when `DynamicUser=` is on.
        var mayBeLink = false
    }

    private static func place(_ explicit: String?) throws(GantryError) -> Place {
        if let explicit {
            guard !explicit.isEmpty, !explicit.utf8.contains(0) else {
                throw GantryError(.invalidArgument, "The state folder has an empty name. Give a path.")
            }
            return Place(path: trimmed(explicit))
        }
        if let path = variable("GANTRY_STATE_DIR") { return Place(path: trimmed(path)) }
        if let list = variable("STATE_DIRECTORY"), let first = list.split(separator: ":").first {
            return Place(path: trimmed(String(first)), mayBeLink: true)
        }
        // The base directory specification: a relative path is to be ignored.
        if let base = variable("XDG_STATE_HOME"), base.utf8.first == UInt8(ascii: "/") {
            return Place(path: trimmed(base) + "/gantry")
        }
        if let home = variable("HOME") { return Place(path: trimmed(home) + "/.local/state/gantry") }
        throw GantryError(
            .stateFolder, "No place for the state folder: HOME is not set. Set it, or GANTRY_STATE_DIR.")
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// Without slashes at the end: `open` with O_NOFOLLOW follows a link that has one.
    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }

    /// `mkdir -p` with 0700 for what is missing. What exists stays as it is.
    private static func create(_ path: String) throws(GantryError) {
        var end = path.utf8.startIndex
        while end < path.utf8.endIndex {
            end = path.utf8[path.utf8.index(after: end)...].firstIndex(of: UInt8(ascii: "/")) ?? path.utf8.endIndex
            let part = String(path[..<end])
            do throws(SystemError) {
                try syscall("mkdir \(part)") { mkdir(part, 0o700) }
            } catch {
                if error.errno == EEXIST { continue }
                // A parent that we may not write to, but that exists, is fine as long as the rest can be made.
                var status = stat()
                if stat(part, &status) == 0 { continue }
                throw GantryError(
                    .stateFolder,
                    "The state folder \(path) cannot be made. Choose one that you may write to.",
                    cause: error.description)
            }
        }
    }

    private static func check(_ place: Place) throws(GantryError) {
        let path = place.path
        let quoted = SecureFile.quoted(path)
        var status = stat()
        guard (place.mayBeLink ? stat(path, &status) : lstat(path, &status)) == 0 else {
            throw GantryError(
                .stateFolder, "The state folder \(path) cannot be read. Use another one.",
                cause: SystemError(errno: errno, during: "stat \(path)").description)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: break
        case S_IFLNK:
            throw GantryError(
                .stateFolder,
                "The state folder \(path) is a symbolic link. Name the real folder: "
                    + "--state-dir \"$(readlink -f \(quoted))\"")
        default:
            throw GantryError(
                .stateFolder, "The state folder \(path) is not a folder. Move it away: mv \(quoted) \(quoted).old")
        }
        guard status.st_uid == geteuid() else {
            throw GantryError(
                .stateFolder,
                "The state folder \(path) belongs to another user (number \(status.st_uid)). "
                    + "Make it yours: sudo chown -R \(geteuid()) \(quoted)")
        }
        guard status.st_mode & 0o077 == 0 else {
            let service = place.mayBeLink ? " (and set StateDirectoryMode=0700 in the unit)" : ""
            throw GantryError(
                .stateFolder,
                "The state folder \(path) is open to other users. Close it: chmod 700 \(quoted)\(service)")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            let error = SystemError(errno: errno, during: "access \(path)")
            let remedy =
                error.errno == EROFS
                ? "Its disk is read-only: name a folder on another one, as in --state-dir ~/gantry"
                : "Mend it: chmod 700 \(quoted)"
            throw GantryError(
                .stateFolder, "The state folder \(path) may not be written. \(remedy)", cause: error.description)
        }
    }
}
