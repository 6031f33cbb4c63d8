import CommandLineKit
import GantryCore
import GantryPlatform
import StudioKit

/// Chooses the command.
enum StudioTool {
    static func main() -> ExitStatus {
        Tool.run(StudioCommands.root) { arguments throws(GantryError) in
            switch arguments.commandNames.first {
            case "pair": try PairCommand(arguments).run()
            case "receive": try ReceiveCommand(arguments).run()
            default: try devices(arguments)
            }
        }
    }

    private static func devices(_ arguments: ParsedArguments) throws(GantryError) -> ExitStatus {
        let controller = try StudioController(
            configuration: StudioConfiguration(stateDirectory: arguments.string("state-dir")))
        return try DevicesCommand(
            list: { () throws(GantryError) in
                try controller.pairedDevices.filter { $0.kind == .producer }.map { device in
                    DevicesCommand.Row(
                        name: device.displayedName, key: device.keyID.description,
                        state: device.state == .active ? "paired" : "unpaired there", pairedAt: device.pairedAt,
                        lastSeen: device.lastSeen, lastAddress: device.lastAddress)
                }
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
