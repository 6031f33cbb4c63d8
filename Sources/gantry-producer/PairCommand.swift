import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import ProducerKit

/// `gantry-producer pair`: takes the code of a studio, by question, standard input or picture, and pairs.
struct PairCommand {
    private enum Input {
        case question
        case standardInput
        case image(String)
        case camera(String)
    }

    private let input: Input
    private let json: Bool
    private let controller: ProducerController

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        let port = try arguments.port("port") ?? Endpoint.defaultPort
        input = try Self.input(arguments)
        controller = try ProducerController(
            configuration: ProducerConfiguration(
                name: try arguments.displayName("name"), port: port, stateDirectory: arguments.string("state-dir")))
    }

    private static func input(_ arguments: ParsedArguments) throws(GantryError) -> Input {
        let image = arguments.string("image")
        if let camera = arguments.string("camera") {
            guard image == nil, arguments.positionals.isEmpty else {
                throw GantryError(.invalidArgument, "--camera does not go with --image or with a code.")
            }
            return .camera(camera == "auto" ? "/dev/video0" : camera)
        }
        switch (arguments.positionals.count, arguments.positional(0), image) {
        case (0, _, let path?): return .image(path)
        case (0, _, nil): return .question
        case (1, "-", nil): return .standardInput
        case (1, "-", _):
            throw GantryError(
                .invalidArgument, "The code comes from standard input (-) or from a picture (--image), not from both.")
        default:
            throw GantryError(
                .invalidArgument,
                "A code is not taken from the command line: everybody on this machine can read that in the list of "
                    + "processes. Run `gantry-producer pair` and paste it, or send it to `gantry-producer pair -`. Show "
                    + "a new code if this one may have been seen.")
        }
    }

    func run() throws(GantryError) -> ExitStatus {
        let text = try readCode()
        // A broken code is told before anything is announced.
        _ = try PairingCode.parse(text)
        let signals = try SignalWatch { [controller] _ in controller.cancelPairing() }
        defer { signals.stop() }
        if !json { StandardStreams.writeError("Looking for the studio (30 seconds at most, Ctrl-C cancels)…\n") }
        let isJSON = json
        let device = try controller.pairStudio(withQRCodeData: text) { event in
            guard case .comparison(let number, _) = event else { return }
            guard !isJSON else { return Self.emit("comparison", [.init("number", .string(number))]) }
            StandardStreams.writeError("The studio shows the number \(number).\n")
        }
        if json {
            Self.emit(
                "paired",
                [.init("name", .string(device.displayedName)), .init("key", .string(device.keyID.description))])
        } else {
            StandardStreams.writeOutput(
                "Paired with \(device.displayedName). Send to it with: gantry-producer run\n")
        }
        return .success
    }

    private static func emit(_ event: String, _ fields: [JSONValue.Member]) {
        StandardStreams.writeOutput(JSONValue.object([.init("event", .string(event))] + fields).text + "\n")
    }

    private func readCode() throws(GantryError) -> String {
        switch input {
        case .image(let path): return try ImageFileScanner.scan(path: path)
        case .camera(let device): return try look(through: device)
        case .standardInput: return try SecretPrompt.readStandardInput().text
        case .question:
            return try SecretPrompt.ask(
                "Code of the studio (not shown): ",
                withoutTerminal: "Send the code to `gantry-producer pair -`, or name a picture with --image."
            ).text
        }
    }

    /// As long as a code lives: then the studio shows another one, and somebody is there who can start again.
    private func look(through device: String) throws(GantryError) -> String {
        let cancel = try EventDescriptor()
        let signals = try SignalWatch { _ in cancel.signal() }
        defer { signals.stop() }
        let isQuiet = json
        return try CameraScanner.scan(
            device: device, until: MonotonicClock.now() + .seconds(120), cancel: cancel,
            progress: { progress in
                if isQuiet { return }
                switch progress {
                case .started(let name, let mode):
                    StandardStreams.writeError(
                        "Looking through \(name) (\(mode)) for the code of the studio. Ctrl-C cancels.\n")
                case .unusable(let error): StandardStreams.writeError("\(error)\n")
                }
            })
    }
}
