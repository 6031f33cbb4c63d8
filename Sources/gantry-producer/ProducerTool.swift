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
        return try DevicesCommand(controller, kind: .studio).run(arguments)
    }
}

extension ProducerController: DeviceKeeper {}
