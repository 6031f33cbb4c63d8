import CommandLineKit
import GantryCore
import GantryPlatform
import ProducerKit

/// Chooses the command.
enum ProducerTool {
    static func main() -> ExitStatus {
        Tool.run(ProducerCommands.root) { arguments throws(GantryError) in
            switch arguments.commandNames.first {
            case "run": try RunCommand(arguments).run()
            case "pair": try PairCommand(arguments).run()
            default: try devices(arguments)
            }
        }
    }

    private static func devices(_ arguments: ParsedArguments) throws(GantryError) -> ExitStatus {
        let controller = try ProducerController(
            configuration: ProducerConfiguration(stateDirectory: arguments.string("state-dir")))
        return try DevicesCommand(
            list: { () throws(GantryError) in
                try controller.pairedDevices.filter { $0.kind == .studio }.map { DevicesCommand.Row($0) }
            },
            remove: { name throws(GantryError) in
                let device = try controller.pairedDevice(named: name)
                try controller.removePairedDevice(device.keyID)
                return device.displayedName
            },
            rename: { name, alias throws(GantryError) in
                let device = try controller.pairedDevice(named: name)
                try controller.renamePairedDevice(device.keyID, to: alias)
                return device.displayedName
            }
        ).run(arguments)
    }
}

extension DevicesCommand.Row {
    init(_ device: PairedDevice) {
        self.init(
            name: device.displayedName, key: device.keyID.description,
            state: device.state == .active ? "paired" : "unpaired there", pairedAt: device.pairedAt,
            lastSeen: device.lastSeen, lastAddress: device.lastAddress)
    }
}
