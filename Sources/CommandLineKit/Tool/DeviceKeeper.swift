package import GantryCore

/// Whoever keeps paired devices: the controllers of both kits.
package protocol DeviceKeeper {
    var pairedDevices: [PairedDevice] { get throws(GantryError) }
    /// By name, or the beginning of its key.
    func pairedDevice(named name: String) throws(GantryError) -> PairedDevice
    func removePairedDevice(_ keyID: KeyID) throws(GantryError)
    func renamePairedDevice(_ keyID: KeyID, to alias: String) throws(GantryError)
}
