import GantryCore
import GantryPlatform

/// The statements over the tables of the store. Called under the store's lock; writes inside a transaction.
enum DeviceTable {
    static func all(_ database: SQLiteDatabase) throws(SQLiteError) -> [PairedDevice] {
        var devices: [PairedDevice] = []
        var damaged = 0
        try database.run("SELECT \(StoreSchema.columns) FROM device ORDER BY paired_at, key_id") { row in
            if let device = device(row) { devices.append(device) } else { damaged += 1 }
            return true
        }
        if damaged > 0 { Log.warning("\(damaged) records of paired devices make no sense and are passed over.") }
        return devices
    }

    static func device(_ keyID: KeyID, _ database: SQLiteDatabase) throws(SQLiteError) -> PairedDevice? {
        var found: PairedDevice?
        try database.run("SELECT \(StoreSchema.columns) FROM device WHERE key_id = ?", [.blob(keyID.bytes)]) { row in
            found = device(row)
            return false
        }
        return found
    }

    static func isRemoved(_ keyID: KeyID, _ database: SQLiteDatabase) throws(SQLiteError) -> Bool {
        try database.integer("SELECT 1 FROM tombstone WHERE key_id = ?", [.blob(keyID.bytes)]) != nil
    }

    /// `name`, or with the first number that makes it unlike the name of each other device.
    static func freeName(_ name: String, for keyID: KeyID, _ database: SQLiteDatabase) throws(SQLiteError) -> String {
        var candidate = name
        var number = 2
        while try database.integer(
            "SELECT 1 FROM device WHERE coalesce(alias, name) = ? AND key_id <> ?",
            [.text(candidate), .blob(keyID.bytes)]) != nil
        {
            candidate = PeerName.numbered(name, number)
            number += 1
        }
        return candidate
    }

    static func put(_ device: PairedDevice, _ database: SQLiteDatabase) throws(SQLiteError) {
        try database.run(
            "INSERT OR REPLACE INTO device (\(StoreSchema.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .blob(device.keyID.bytes), .blob(device.publicKeyInfo), .integer(Int64(device.kind.rawValue)),
                .text(device.name), .optional(device.alias), .integer(Int64(device.via.rawValue)),
                .integer(device.confirmed ? 1 : 0), .integer(Int64(device.state.rawValue)), .integer(device.pairedAt),
                .optional(device.lastSeen), .optional(device.lastAddress),
            ])
        try database.run("DELETE FROM tombstone WHERE key_id = ?", [.blob(device.keyID.bytes)])
    }

    static func remove(_ keyID: KeyID, now: Int64, _ database: SQLiteDatabase) throws(SQLiteError) -> Bool {
        try database.run("DELETE FROM device WHERE key_id = ?", [.blob(keyID.bytes)])
        let wasThere = database.changes > 0
        try database.run(
            "INSERT OR REPLACE INTO tombstone (key_id, removed_at) VALUES (?, ?)", [.blob(keyID.bytes), .integer(now)])
        return wasThere
    }

    static func noteSeen(
        _ keyID: KeyID, _ time: Int64, _ address: String?, _ database: SQLiteDatabase
    ) throws(SQLiteError) -> Bool {
        try database.run(
            """
            UPDATE device SET last_seen = ?, last_address = coalesce(?, last_address), state = ? WHERE key_id = ?
            """,
            [
                .integer(time), .optional(address), .integer(Int64(PairedDevice.State.active.rawValue)),
                .blob(keyID.bytes),
            ])
        return database.changes > 0
    }

    static func markRejected(_ keyID: KeyID, _ database: SQLiteDatabase) throws(SQLiteError) -> Bool {
        try database.run(
            "UPDATE device SET state = ? WHERE key_id = ?",
            [.integer(Int64(PairedDevice.State.rejectedByPeer.rawValue)), .blob(keyID.bytes)])
        return database.changes > 0
    }

    /// Nil for a record that makes no sense: a key that is none, an id of another key, a number without meaning.
    private static func device(_ row: SQLiteRow) -> PairedDevice? {
        let info = row.blob(1)
        guard let keyID = KeyID(bytes: row.blob(0)), PublicKeyInfo.isAccepted(info),
            PairingCryptography.equal(PairingCryptography.sha256(info), keyID.bytes),
            let kind = value(row, 2).flatMap(PairedDevice.Kind.init),
            let via = value(row, 5).flatMap(PairedDevice.Via.init),
            let state = value(row, 7).flatMap(PairedDevice.State.init)
        else { return nil }
        return PairedDevice(
            keyID: keyID, publicKeyInfo: info, kind: kind, name: PeerName.cleaned(row.optionalText(3) ?? ""),
            alias: row.optionalText(4).map(PeerName.cleaned), via: via, confirmed: row.integer(6) != 0, state: state,
            pairedAt: row.integer(8), lastSeen: row.optionalInteger(9),
            // Whoever has written it.
            lastAddress: row.optionalText(10).map(DeviceStore.cleanedAddress))
    }

    private static func value(_ row: SQLiteRow, _ column: Int32) -> Int? { Int(exactly: row.integer(column)) }
}
