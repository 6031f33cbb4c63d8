import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import ProducerKit

/// Chooses the command.
enum ProducerTool {
    static func main() -> ExitStatus {
        Tool.run(ProducerCommands.root, listing: listing) { arguments throws(GantryError) in
            switch arguments.commandNames.first {
            case "run": try RunCommand(arguments).run()
            case "pair": try PairCommand(arguments).run()
            case "doctor": DoctorCommand(arguments, DoctorChecks.all(arguments)).run()
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

    /// Makes no keys where there are none, and uses no device.
    private static func listing(_ source: CompletionSource, _ arguments: ParsedArguments) -> [CompletionCandidate] {
        switch source {
        case .cameras: return CameraList.all().map { CompletionCandidate($0.path, $0.name) }
        case .microphones: return MicrophoneList.all().map { CompletionCandidate($0.name, $0.description) }
        case .pairedDevices where StateFolder.exists(arguments.string("state-dir")):
            guard let installation = try? Installation(arguments) else { return [] }
            return DevicesCommand(installation.controller, kind: .studio).completion()
        default: return []
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
