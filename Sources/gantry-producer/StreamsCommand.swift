import CommandLineKit
import GantryCore
import GantryPlatform

/// `gantry-producer streams`: what the running producer offers, and a switch for each of it.
struct StreamsCommand {
    private let installation: Installation
    private let change: JSONValue?
    private let json: Bool

    init(_ arguments: ParsedArguments) throws(GantryError) {
        installation = try Installation(arguments)
        json = arguments.has("json")
        let words = (kind: arguments.positional(0), state: arguments.positional(1))
        guard let kind = words.kind else {
            change = nil
            return
        }
        guard ["video", "audio"].contains(kind), let state = words.state, ["on", "off"].contains(state) else {
            throw GantryError(
                .invalidArgument, "Say which stream and what: gantry-producer streams video|audio on|off")
        }
        change = .object([.init(kind, .bool(state == "on"))])
    }

    func run() throws(GantryError) -> ExitStatus {
        let result = try installation.requireRunning().call("streams", change ?? [:])
        if json {
            StandardStreams.writeOutput(
                JSONValue.object([.init("event", "streams")] + (result.members ?? [])).text + "\n")
        } else {
            StandardStreams.writeOutput(
                ["video", "audio"].map { "\($0): \(Self.word(result[$0]))\n" }.joined())
        }
        return .success
    }

    private static func word(_ state: JSONValue?) -> String { state?.bool == true ? "offered" : "not offered" }
}
