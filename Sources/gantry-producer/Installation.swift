import CommandLineKit
import GantryCore
import GantryPlatform
import ProducerKit

/// The producer of a state folder: its keys and devices, and the process that runs with them, if there is one.
struct Installation {
    let controller: ProducerController
    private let address: ControlAddress

    init(
        _ arguments: ParsedArguments, name: String? = nil, port: UInt16 = Endpoint.defaultPort
    ) throws(GantryError) {
        let folder = try StateFolder.open(arguments.string("state-dir"))
        controller = try ProducerController(
            configuration: ProducerConfiguration(name: name, port: port, stateDirectory: folder.path))
        address = ControlAddress(producer: controller.keyID, stateFolder: folder.path)
    }

    /// Nil when no producer runs.
    func running() throws(GantryError) -> ControlClient? { try ControlClient.connect(to: address) }

    /// For what only a running producer can do.
    ///
    /// - Throws: `notRunning`.
    func requireRunning() throws(GantryError) -> ControlClient {
        guard let client = try running() else {
            throw GantryError(.notRunning, "No producer runs. Start it with: gantry-producer run")
        }
        return client
    }
}
