import CSQLite
import GantryCore
import GantryPlatform
import Glibc

/// Opening `paired.sqlite`: the safe file, the check, and what happens to a damaged one.
///
/// Not thread-safe: a value that `DeviceStore` keeps under its lock.
struct StoreFile {
    static let name = "paired.sqlite"

    let database: SQLiteDatabase
    /// Written by a newer Gantry.
    let isReadOnly: Bool
    private let device: dev_t
    private let inode: ino_t

    /// Opens the store, makes an empty one when there is none, and puts a damaged one aside.
    static func open(in folder: StateFolder) throws(GantryError) -> StoreFile {
        // Two processes must not both find the damage, and the second put aside what the first has just made.
        try folder.withExclusiveAccess { () throws(GantryError) -> StoreFile in
            try makeFile(in: folder)
            do throws(SQLiteError) {
                return try openPresent(in: folder)
            } catch {
                guard isDamage(error) else { throw unusable(folder, error) }
                try putAside(folder, error)
            }
            try makeFile(in: folder)
            do throws(SQLiteError) {
                return try openPresent(in: folder)
            } catch {
                throw unusable(folder, error)
            }
        }
    }

    /// Whether the name in the folder still leads to the file that is open. Not so when another process has put it
    /// aside, or somebody has deleted it.
    func isCurrent(in folder: StateFolder) -> Bool {
        var status = stat()
        return lstat(folder.file(Self.name), &status) == 0 && status.st_ino == inode && status.st_dev == device
    }

    static func unusable(_ folder: StateFolder, _ error: SQLiteError) -> GantryError {
        let path = folder.file(name)
        let words =
            switch error.code {
            case SQLITE_FULL:
                "No room is left for the store of paired devices. Free some on the disk that holds \(path)."
            case SQLITE_BUSY, SQLITE_LOCKED:
                "Another program holds the store of paired devices. See which, end it and try again: "
                    + "fuser -v \(SecureFile.quoted(path))"
            case SQLITE_CORRUPT, SQLITE_NOTADB:
                "The store of paired devices is damaged. Start Gantry again: it puts \(path) aside and begins anew."
            case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN:
                "The store of paired devices cannot be written. Look at \(path): its disk may be read-only."
            case SQLITE_MISMATCH:
                "The store of paired devices, \(path), is of a newer Gantry. Update Gantry, or use another state folder: "
                    + "--state-dir DIR"
            default: "The store of paired devices, \(path), cannot be used."
            }
        return GantryError(.store, words, cause: error.description)
    }

    /// An empty file with the right mode, which SQLite gives to its companions too; or the check of the one there is.
    private static func makeFile(in folder: StateFolder) throws(GantryError) {
        if try SecureFile.check(name, in: folder, code: .store) { return }
        // Companions of a file that somebody deleted must not flow into the new one.
        for suffix in ["-wal", "-shm"] { unlink(folder.file(name + suffix)) }
        _ = try SecureFile.create(
            name, in: folder, contents: UnsafeRawBufferPointer(start: nil, count: 0), code: .store)
    }

    private static func openPresent(in folder: StateFolder) throws(SQLiteError) -> StoreFile {
        let database = try SQLiteDatabase(path: folder.file(name))
        let isReadOnly = try StoreSchema.prepare(database)
        guard try StoreSchema.isSound(database) else {
            throw SQLiteError(code: SQLITE_CORRUPT, description: "quick_check found damage")
        }
        guard try StoreSchema.hasTables(database) else {
            throw isReadOnly
                ? SQLiteError(code: SQLITE_MISMATCH, description: "a newer Gantry keeps other tables")
                : SQLiteError(code: SQLITE_CORRUPT, description: "the tables are not those of Gantry")
        }
        var status = stat()
        guard lstat(folder.file(name), &status) == 0 else {
            throw SQLiteError(code: SQLITE_CANTOPEN, description: "the file has gone")
        }
        return StoreFile(database: database, isReadOnly: isReadOnly, device: status.st_dev, inode: status.st_ino)
    }

    private static func isDamage(_ error: SQLiteError) -> Bool {
        error.code == SQLITE_CORRUPT || error.code == SQLITE_NOTADB
    }

    /// Renames the file and what belongs to it. Never overwrites an earlier one.
    private static func putAside(_ folder: StateFolder, _ error: SQLiteError) throws(GantryError) {
        let path = folder.file(name)
        var target = path + ".damaged"
        var number = 2
        var status = stat()
        while lstat(target, &status) == 0 {
            guard number < 1000 else {
                throw GantryError(
                    .store,
                    "\(path) is damaged, as \(number) before it. Check the disk; then move \(path).damaged* away.")
            }
            target = "\(path).damaged-\(number)"
            number += 1
        }
        guard rename(path, target) == 0 else {
            throw GantryError(
                .store, "\(path) is damaged and cannot be moved aside.",
                cause: SystemError(errno: errno, during: "rename \(path)").description)
        }
        for suffix in ["-wal", "-shm"] { _ = rename(path + suffix, target + suffix) }
        Log.warning(
            "The store of paired devices was damaged (\(error)). It is kept as \(target), and an empty one is started: "
                + "pair your devices again.")
    }
}
