import CommandLineKit
import GantryCore
import GantryPlatform

/// `gantry-producer sources`: what this machine could send, in the words that `run` takes.
struct SourcesCommand {
    private let json: Bool
    private let controls: Bool

    init(_ arguments: ParsedArguments) {
        json = arguments.has("json")
        controls = arguments.has("controls")
    }

    func run() -> ExitStatus {
        let inventory = SourceInventory()
        StandardStreams.writeOutput(
            json
                ? SourcesJSON.value(inventory).text + "\n"
                : SourcesText(inventory, columns: TerminalSize.current.columns, controls: controls).text)
        return .success
    }
}
