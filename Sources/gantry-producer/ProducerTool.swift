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
            case "sources": SourcesCommand(arguments).run()
            case "status": try StatusCommand(arguments).run()
            case "pause": try PauseCommand(arguments, pauses: true).run()
            case "streams": try StreamsCommand(arguments).run()
            case "admit": try AdmitCommand(arguments).run()
            case "resume": try PauseCommand(arguments, pauses: false).run()
            default: try devices(arguments)
            }
        }
    }

    private static func devices(_ arguments: ParsedArguments) throws(GantryError) -> ExitStatus {
        let installation = try Installation(arguments)
        let running = try installation.running()
        let keeper: any DeviceKeeper =
            if let running { RunningDevices(installation.controller, running) } else { installation.controller }
        return try DevicesCommand(keeper, kind: .studio).run(arguments)
    }
}

extension ProducerController: DeviceKeeper {}
