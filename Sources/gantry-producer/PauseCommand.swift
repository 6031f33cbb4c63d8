import CommandLineKit
import GantryCore
import GantryPlatform

/// `gantry-producer pause` and `resume`.
struct PauseCommand {
    private let installation: Installation
    private let pauses: Bool
    private let json: Bool

    init(_ arguments: ParsedArguments, pauses: Bool) throws(GantryError) {
        installation = try Installation(arguments)
        self.pauses = pauses
        json = arguments.has("json")
    }

    func run() throws(GantryError) -> ExitStatus {
        _ = try installation.requireRunning().call(pauses ? "pause" : "resume")
        if json {
            StandardStreams.writeOutput(JSONValue.object([.init("event", pauses ? "paused" : "resumed")]).text + "\n")
        } else {
            StandardStreams.writeOutput(
                pauses ? "Paused: nothing is sent. Go on with: gantry-producer resume\n" : "Resumed.\n")
        }
        return .success
    }
}
