package import GantryCore
package import GantryPlatform

/// The devices that this one is paired with, in `paired.sqlite` of the state folder. The command line and a running
/// daemon share the file; a daemon notices changes of others by `changeCounter`.
///
/// **Thread.** Any. Calls wait for each other, at most 2 s for a write of another process, and writes for the disk
/// (`synchronous=FULL`): not for the media path.
///
/// **Safety.** A write is there whole or not at all, also when the process is killed or the disk is full. Damage leads
/// to an empty store, an error, or `unknown`, never to more trust. A file of a newer Gantry is read, not written.
///
/// Everything throws `.store` when the file cannot be used. Times are unix seconds.
package final class DeviceStore: @unchecked Sendable {  // `file` and `ownChanges` are guarded by `lock`.
    private let folder: StateFolder
    private let lock = Lock()
    private var file: StoreFile
    private var ownChanges: Int64 = 0

    /// Opens the store of the folder, and makes it when there is none.
    package static func open(in folder: StateFolder) throws(GantryError) -> DeviceStore {
        DeviceStore(folder, try StoreFile.open(in: folder))
    }

    private init(_ folder: StateFolder, _ file: StoreFile) {
        self.folder = folder
        self.file = file
    }

    // MARK: Reading

    /// All devices, by the time of pairing.
    package func devices() throws(GantryError) -> [PairedDevice] {
        try read { database throws(SQLiteError) in
            try DeviceTable.all(database)
        }
    }

    package func device(keyID: KeyID) throws(GantryError) -> PairedDevice? {
        try read { database throws(SQLiteError) in
            try DeviceTable.device(keyID, database)
        }
    }

    /// The device that a person means: by the name that is shown, else by the name that it gave itself, else by the
    /// first characters of its key (at least 4).
    ///
    /// Throws `.unknownDevice`, and `.invalidArgument` when several fit.
    package func find(_ nameOrKeyPrefix: String) throws(GantryError) -> PairedDevice {
        try DeviceSearch.find(nameOrKeyPrefix, in: try devices())
    }

    /// What to do with a peer that shows this key. A store that cannot be read answers `unknown`. Some microseconds.
    package func trust(of keyID: KeyID) -> TrustDecision {
        do throws(GantryError) {
            return try read { database throws(SQLiteError) in
                if try DeviceTable.isRemoved(keyID, database) { return .revoked }
                guard let device = try DeviceTable.device(keyID, database) else { return .unknown }
                return PairingCryptography.equal(device.keyID.bytes, keyID.bytes) ? .trusted : .unknown
            }
        } catch {
            Log.error("\(error)")
            return .unknown
        }
    }

    /// Another number after each change, whoever made it. Cheap enough to ask several times a second.
    package var changeCounter: Int64 {
        do throws(GantryError) {
            let others = try read { database throws(SQLiteError) in
                try database.integer("PRAGMA data_version") ?? 0
            }
            return lock.withLock { ownChanges } &+ others
        } catch {
            // Whoever asks then reads the list, and gets the error.
            return lock.withLock {
                ownChanges &+= 1
                return ownChanges
            }
        }
    }

    // MARK: Writing

    /// Adds a device, or renews the record of one whose key is there: it keeps its alias, and when it was seen. A
    /// name that another device is shown by gets a number, "NAME (2)". A tombstone of the key goes.
    ///
    /// Returns the record as it is stored.
    @discardableResult
    package func save(_ device: PairedDevice) throws(GantryError) -> PairedDevice {
        guard PublicKeyInfo.isAccepted(device.publicKeyInfo),
            PairingCryptography.sha256(device.publicKeyInfo) == device.keyID.bytes
        else { throw GantryError(.invalidArgument, "The key id of the device does not belong to its key.") }
        return try write { database throws(SQLiteError) in
            var saved = device
            saved.name = PeerName.cleaned(device.name)
            saved.alias = device.alias.map(PeerName.cleaned)
            if let earlier = try DeviceTable.device(device.keyID, database) {
                saved.alias = saved.alias ?? earlier.alias
                saved.lastSeen = saved.lastSeen ?? earlier.lastSeen
                saved.lastAddress = saved.lastAddress ?? earlier.lastAddress
            }
            saved.lastAddress = saved.lastAddress.map(Self.cleanedAddress)
            let displayed = try DeviceTable.freeName(saved.displayedName, for: saved.keyID, database)
            if displayed != saved.displayedName { saved.alias = displayed }
            try DeviceTable.put(saved, database)
            return saved
        }
    }

    /// Removes a device and leaves a tombstone, so that it is told when it comes again. False when it was not there
    /// (the tombstone is left all the same).
    @discardableResult
    package func remove(keyID: KeyID, now: Int64) throws(GantryError) -> Bool {
        try write { database throws(SQLiteError) in
            try DeviceTable.remove(keyID, now: now, database)
        }
    }

    /// Gives a device a name of its own here; nil takes that back. Throws `.unknownDevice`, and `.invalidArgument` when
    /// the name is empty or another device has it.
    @discardableResult
    package func rename(keyID: KeyID, to alias: String?) throws(GantryError) -> PairedDevice {
        let wanted = alias.map(PeerName.cleaned)
        if let alias, PeerName.isBlank(alias) {
            throw GantryError(.invalidArgument, "A name needs at least one character that can be seen.")
        }
        let result = try write { database throws(SQLiteError) -> RenameResult in
            guard var device = try DeviceTable.device(keyID, database) else { return .unknown }
            device.alias = wanted
            let free = try DeviceTable.freeName(device.displayedName, for: keyID, database)
            if free != device.displayedName {
                if let wanted { return .taken(wanted) }
                device.alias = free
            }
            try DeviceTable.put(device, database)
            return .renamed(device)
        }
        switch result {
        case .renamed(let device): return device
        case .unknown: throw DeviceSearch.unknown(keyID.short)
        case .taken(let name):
            throw GantryError(.invalidArgument, "Another paired device is called \"\(name)\". Choose another name.")
        }
    }

    /// The device was connected. It accepts us, so it is active again if it was not. False when it is not in the store.
    @discardableResult
    package func noteSeen(keyID: KeyID, at time: Int64, address: String?) throws(GantryError) -> Bool {
        let address = address.map(Self.cleanedAddress)
        return try write { database throws(SQLiteError) in
            try DeviceTable.noteSeen(keyID, time, address, database)
        }
    }

    /// The device says that it has removed us. False when it is not in the store.
    @discardableResult
    package func markRejectedByPeer(keyID: KeyID) throws(GantryError) -> Bool {
        try write { database throws(SQLiteError) in
            try DeviceTable.markRejected(keyID, database)
        }
    }

    private enum RenameResult {
        case renamed(PairedDevice)
        case unknown
        case taken(String)
    }

    /// Printable ASCII of at most 300 characters: a host name has 253 at most (RFC 1035), a port 5.
    static func cleanedAddress(_ address: String) -> String {
        String(
            String.UnicodeScalarView(
                address.unicodeScalars.lazy.filter { (0x21...0x7e).contains($0.value) }.prefix(300)))
    }

    // MARK: Access

    private func read<R>(_ body: (SQLiteDatabase) throws(SQLiteError) -> R) throws(GantryError) -> R {
        try lock.withLock { () throws(GantryError) -> R in
            try reopenWhenReplaced()
            do throws(SQLiteError) {
                return try body(file.database)
            } catch {
                throw StoreFile.unusable(folder, error)
            }
        }
    }

    private func write<R>(_ body: (SQLiteDatabase) throws(SQLiteError) -> R) throws(GantryError) -> R {
        try lock.withLock { () throws(GantryError) -> R in
            try reopenWhenReplaced()
            guard !file.isReadOnly else {
                throw GantryError(
                    .store,
                    "The store of paired devices was written by a newer version of Gantry, and this one must not change "
                        + "it. Update Gantry, or use another state folder.")
            }
            do throws(SQLiteError) {
                let result = try file.database.transaction { () throws(SQLiteError) in try body(file.database) }
                ownChanges &+= 1
                return result
            } catch {
                throw StoreFile.unusable(folder, error)
            }
        }
    }

    /// Another process found damage and put the file aside, or somebody deleted it: what we have open is not the
    /// store any more. Called under the lock.
    private func reopenWhenReplaced() throws(GantryError) {
        if file.isCurrent(in: folder) { return }
        file = try StoreFile.open(in: folder)
        ownChanges &+= 1 << 32
    }
}
