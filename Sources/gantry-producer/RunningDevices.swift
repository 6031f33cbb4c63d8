import CommandLineKit
import GantryCore
import ProducerKit

/// The devices of a producer that runs: read from the store that we share, changed by the running one, which ends the
/// session of a removed device at once.
struct RunningDevices: DeviceKeeper {
    private let store: ProducerController
    private let running: ControlClient

    init(_ store: ProducerController, _ running: ControlClient) {
        self.store = store
        self.running = running
    }

    var pairedDevices: [PairedDevice] {
        get throws(GantryError) { try store.pairedDevices }
    }

    func pairedDevice(named name: String) throws(GantryError) -> PairedDevice { try store.pairedDevice(named: name) }

    func removePairedDevice(_ keyID: KeyID) throws(GantryError) {
        _ = try running.call("devices.remove", ["device": .string(keyID.description)])
    }

    func renamePairedDevice(_ keyID: KeyID, to alias: String) throws(GantryError) {
        _ = try running.call("devices.rename", ["device": .string(keyID.description), "name": .string(alias)])
    }
}
