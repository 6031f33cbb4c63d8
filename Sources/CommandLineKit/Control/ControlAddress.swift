package import GantryCore
import GantryPlatform
import Glibc

/// Where a control socket of one installation is: `producer-<first 16 characters of its key>.sock`, or `studio-….sock`,
/// in the first of these folders that there is.
///
/// 1. `$XDG_RUNTIME_DIR/gantry`, 2. `/run/user/UID/gantry`, 3. the state folder. A runtime folder counts only when it
/// belongs to us: `sudo` may hand down that of another user. A value; any thread.
package struct ControlAddress: Sendable, Hashable {
    /// Which folder of ours, and whether it may have to be made.
    struct Place: Sendable, Hashable {
        var folder: String
        var isMade: Bool
    }

    let places: [Place]
    package let name: String
    let role: ControlRole

    /// - Parameter stateFolder: exists, and is ours alone.
    package init(
        producer keyID: KeyID, stateFolder: String, runtimeFolder: String? = Environment["XDG_RUNTIME_DIR"]
    ) {
        self.init(.producer, keyID, suffix: "", stateFolder, runtimeFolder)
    }

    /// - Parameters:
    ///   - slot: of a studio several may run; from 1.
    ///   - stateFolder: exists, and is ours alone.
    package init(
        studio keyID: KeyID, slot: Int, stateFolder: String,
        runtimeFolder: String? = Environment["XDG_RUNTIME_DIR"]
    ) {
        self.init(.studio, keyID, suffix: slot > 1 ? "-\(slot)" : "", stateFolder, runtimeFolder)
    }

    private init(
        _ role: ControlRole, _ keyID: KeyID, suffix: String, _ stateFolder: String, _ runtimeFolder: String?
    ) {
        self.role = role
        name = "\(role.prefix)-\(keyID.short.lowercased())\(suffix).sock"
        var places: [Place] = []
        for base in [runtimeFolder, "/run/user/\(geteuid())"] {
            guard let base, base.utf8.first == UInt8(ascii: "/"), Self.isOurs(base) else { continue }
            let place = Place(folder: base + "/gantry", isMade: true)
            if !places.contains(place) { places.append(place) }
        }
        self.places = places + [Place(folder: stateFolder, isMade: false)]
    }

    /// Where the socket is made, for people.
    package var path: String { (places.first?.folder ?? "") + "/" + name }

    private static func isOurs(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }
}

/// A folder that is open, and was found to be ours alone: what happens in it later goes through its descriptor.
struct ControlFolder {
    let path: String
    let descriptor: FileDescriptor

    /// Nil when there is none, and none is to be made.
    ///
    /// - Throws: `controlSocket` with what mends a link, a wrong owner or mode.
    init?(_ place: ControlAddress.Place, creating: Bool) throws(GantryError) {
        let path = place.folder
        if creating && place.isMade && mkdir(path, 0o700) != 0 && errno != EEXIST {
            throw Self.error("The folder \(path) cannot be made.", errno, "mkdir")
        }
        let opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP, ENOTDIR:
                throw Self.error(
                    "\(path) is a link or a file where a folder of ours should be. Move it away: "
                        + "mv \(SecureFile.quoted(path)) \(SecureFile.quoted(path)).old", errno, "open")
            default: throw Self.error("The folder \(path) cannot be opened.", errno, "open")
            }
        }
        descriptor = FileDescriptor(takingOwnership: opened)
        self.path = path
        var status = stat()
        guard fstat(opened, &status) == 0 else {
            throw Self.error("The folder \(path) cannot be looked at.", errno, "fstat")
        }
        guard status.st_uid == geteuid() else {
            throw GantryError(
                .controlSocket,
                "The folder \(path) belongs to another user (number \(status.st_uid)). "
                    + "Make it yours: sudo chown \(geteuid()) \(SecureFile.quoted(path))")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw GantryError(
                .controlSocket,
                "The folder \(path) is open to other users. Close it: chmod 700 \(SecureFile.quoted(path))")
        }
    }

    /// Runs `body` while no other process changes sockets here. The kernel lets go of it when a process dies.
    func withExclusiveAccess<R>(_ body: () throws(GantryError) -> R) throws(GantryError) -> R {
        do throws(SystemError) {
            try syscall("flock \(path)") { flock(descriptor.rawValue, LOCK_EX) }
        } catch {
            throw Self.error("The folder \(path) cannot be locked.", error.errno, "flock")
        }
        defer { flock(descriptor.rawValue, LOCK_UN) }
        return try body()
    }

    /// A file's status, links not followed; nil when there is none.
    func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    func remove(_ name: String) { unlinkat(descriptor.rawValue, name, 0) }

    static func error(_ text: String, _ number: CInt, _ operation: String) -> GantryError {
        GantryError(.controlSocket, text, cause: SystemError(errno: number, during: operation).description)
    }
}
