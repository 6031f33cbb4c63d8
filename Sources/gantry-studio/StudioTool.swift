import CommandLineKit
import GantryCore
import GantryPlatform
import StudioKit

/// Chooses the command.
enum StudioTool {
    static func main() -> ExitStatus {
        Tool.run(StudioCommands.root, listing: listing) { arguments throws(GantryError) in
            switch arguments.commandNames.first {
            case "pair": try PairCommand(arguments).run()
            case "doctor": DoctorCommand(arguments, DoctorChecks.all(arguments)).run()
            case "list": try ListCommand(arguments).run()
            case "network": try NetworkCommand(arguments).run()
            case "latency": try LatencyCommand(arguments).run()
            case "receive", "relay": try ReceiveCommand(arguments).run()
            case "status": try ReceiveStatusCommand(arguments).run()
            case "pause", "resume", "prefer", "replay": try ReceiverCommand(arguments).run()
            default: try devices(arguments)
            }
        }
    }

    /// Makes no keys where there are none.
    private static func listing(_ source: CompletionSource, _ arguments: ParsedArguments) -> [CompletionCandidate] {
        let folder = arguments.string("state-dir")
        guard source == .pairedDevices, StateFolder.exists(folder) else { return [] }
        guard let controller = try? StudioController(configuration: .init(stateDirectory: folder)) else { return [] }
        return DevicesCommand(controller, kind: .producer).completion()
    }

    private static func devices(_ arguments: ParsedArguments) throws(GantryError) -> ExitStatus {
        let controller = try StudioController(
            configuration: StudioConfiguration(stateDirectory: arguments.string("state-dir")))
        return try DevicesCommand(controller, kind: .producer).run(arguments)
    }
}

extension StudioController: DeviceKeeper {}

extension StudioController {
    /// Where there is no state folder nobody is paired: a command that can only fail makes no folder and no keys.
    ///
    /// - Parameter index: of the argument that names the producer. On a cable or by URL one need not be paired.
    static func checkIsPaired(_ arguments: ParsedArguments, _ index: Int) throws(GantryError) {
        if let name = arguments.positional(index), name == "usb" || name.hasPrefix("usb:") || name.contains("://") {
            return
        }
        guard try StateFolder.existing(arguments.string("state-dir")) == nil else { return }
        throw nobodyPaired
    }

    /// Of a command that looks at the network, for the producers of a field of use.
    convenience init(watching arguments: ParsedArguments) throws(GantryError) {
        var configuration = StudioConfiguration(stateDirectory: arguments.string("state-dir"))
        configuration.fieldOfUse = try FieldOfUse(arguments)
        try self.init(configuration: configuration)
    }
}
