import CommandLineKit
import GantryCore
import GantryPlatform
import Glibc
import StudioKit

/// `gantry-studio pair`: shows a code and waits for the producer that scans it.
struct PairCommand {
    private let json: Bool
    private let display: CodeDisplay
    private let pairing: StudioPairing

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        let asksForConfirmation = arguments.has("confirm")
        // Not only when a producer is waiting for the answer.
        if asksForConfirmation { try YesNoPrompt.check(withoutTerminal: ComparisonQuestion.withoutTerminal) }
        let pictures = try CodePictures(png: arguments.string("png"), svg: arguments.string("svg"))
        let duration = try arguments.duration("duration") ?? .seconds(300)
        guard duration <= .seconds(300) else {
            throw GantryError(.invalidArgument, "A code is shown for 5 minutes at most. Give --duration 5m or less.")
        }
        let controller = try StudioController(
            configuration: StudioConfiguration(
                name: try arguments.displayName("name"), stateDirectory: arguments.string("state-dir")))
        pairing = try controller.beginPairing(
            address: arguments.string("address"), port: try arguments.port("port", allowsAny: true) ?? 0,
            duration: duration, asksForConfirmation: asksForConfirmation)
        display = try CodeDisplay(
            json: json, asText: arguments.has("text"), pictures: pictures, windowEnds: pairing.deadline)
    }

    func run() throws(GantryError) -> ExitStatus {
        // SIGQUIT as well: its core file would hold the code.
        let signals = try SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGQUIT], beforeDeath: display.abandon) {
            [pairing] _ in pairing.cancel()
        }
        defer { signals.stop() }
        let result = showEvents { () throws(GantryError) in try pairing.run() }
        display.close()
        // What could not be shown is the reason that the window was closed.
        if case .failure = result, let failure = display.failure { throw failure }
        let device = try result.get()
        if let failure = display.failure { Log.warning("\(failure)") }
        report(device)
        return .success
    }

    /// Runs `body` while the window's events are shown, and returns when the last one is.
    private func showEvents<Value: Sendable>(
        during body: () throws(GantryError) -> Value
    ) -> Result<Value, GantryError> {
        let isShown = BoundedQueue<Void>(capacity: 1)
        let showing = Task.detached { [pairing, display] in
            for await event in pairing.events { display.show(event, of: pairing) }
            isShown.push(())
        }
        let result = Result { () throws(GantryError) in try body() }
        // What is in the stream already is still shown after this.
        showing.cancel()
        _ = isShown.pop(until: MonotonicClock.now() + .seconds(1))
        return result
    }

    private func report(_ device: PairedDevice) {
        if json {
            StandardStreams.writeOutput(
                JSONValue.object([
                    .init("event", "paired"), .init("name", .string(device.displayedName)),
                    .init("key", .string(device.keyID.description)), .init("address", .optional(device.lastAddress)),
                ]).text + "\n")
        } else {
            StandardStreams.writeError(
                "Paired with \(device.displayedName). Receive with: gantry-studio receive "
                    + "\(ShellWord.quoted(device.displayedName))\n")
        }
    }
}
