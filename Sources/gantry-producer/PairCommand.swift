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

    private static let withoutTerminal =
        "--confirm needs one: run it in a terminal, or leave --confirm out and compare the number that both ends show."

    private let input: Input
    private let json: Bool
    private let confirms: Bool
    private let installation: Installation

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        confirms = arguments.has("confirm")
        let port = try arguments.port("port") ?? Endpoint.defaultPort
        input = try Self.input(arguments)
        installation = try Installation(arguments, name: try arguments.displayName("name"), port: port)
    }

    private static func input(_ arguments: ParsedArguments) throws(GantryError) -> Input {
        let image = arguments.string("image")
        if let camera = arguments.string("camera") {
            guard image == nil, arguments.positionals.isEmpty else {
                throw GantryError(.invalidArgument, "--camera does not go with --image or with a code.")
            }
            return .camera(camera)
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
        if confirms { try YesNoPrompt.check(withoutTerminal: Self.withoutTerminal) }
        return try CoreDumpGuard.during { () throws(GantryError) in try pair() }
    }

    private func pair() throws(GantryError) -> ExitStatus {
        let text = try readCode()
        // A broken code is told before anything is announced.
        _ = try PairingCode.parse(text)
        let running = try installation.running()
        let way: any PairingWay =
            if let running { RunningPairing(client: running) } else { OwnPairing(controller: installation.controller) }
        let signals = try SignalWatch { _ in way.cancel() }
        defer { signals.stop() }
        let report = PairReport(json: json)
        defer { report.clear() }
        let attempt = try PairingRun(way)
        try attempt.start(code: text, confirms: confirms)
        let device = try show(attempt, report)
        report.paired(name: device.name, key: device.key, isRunning: running != nil)
        return .success
    }

    /// Until the end of the attempt.
    private func show(
        _ attempt: PairingRun, _ report: PairReport
    ) throws(GantryError) -> (name: String, key: String) {
        while true {
            switch attempt.next(until: MonotonicClock.now() + .milliseconds(250)) {
            case nil: report.tick()
            case .ended(let result): return try result.get()
            case .event(let event):
                report.event(event)
                guard case .comparison(let number, true) = event else { continue }
                report.clear()
                if let isSame = try answer(number, attempt) { attempt.way.confirm(isSame) }
            }
        }
    }

    /// Nil when the attempt has ended before the answer.
    private func answer(_ number: String, _ attempt: PairingRun) throws(GantryError) -> Bool? {
        do throws(GantryError) {
            return try YesNoPrompt.ask(
                "Does the studio show \(number)?", cancellation: attempt.ending, withoutTerminal: Self.withoutTerminal)
        } catch {
            if error.code == .cancelled { return nil }
            attempt.way.cancel()
            throw error
        }
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
        do throws(GantryError) {
            return try scan(device == "auto" ? CameraList.best().path : device, cancel)
        } catch {
            guard error.code == .sourceNotFound else { throw error }
            // Not what else a producer may send.
            let message = device == "auto" && CameraList.all().isEmpty ? "This machine has no camera." : error.message
            throw GantryError(
                error.code,
                message + " Without a camera: paste the text of `gantry-studio pair --text` into "
                    + "`gantry-producer pair`.", cause: error.cause)
        }
    }

    private func scan(_ device: String, _ cancel: EventDescriptor) throws(GantryError) -> String {
        let deadline = MonotonicClock.now() + .seconds(120)
        let preview = json ? nil : ScanPreview(until: deadline)
        defer { preview?.clear() }
        func say(_ text: String) {
            if json { return }
            preview?.clear()
            StandardStreams.writeError(text)
        }
        return try CameraScanner.scan(
            device: device, until: deadline, cancel: cancel,
            progress: { progress in
                switch progress {
                case .started(let name, let mode):
                    say("Looking through \(name) (\(mode)) for the code of the studio. Ctrl-C cancels.\n")
                case .unusable(let error): say("\(error)\n")
                }
            }, watch: { preview?.show($0) })
    }
}
