import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// `gantry-studio pair`: shows a code and waits for the producer that scans it.
struct PairCommand {
    private let json: Bool
    private let asText: Bool
    private let png: String?
    private let svg: String?
    private let controller: StudioController
    private let pairing: StudioPairing

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        asText = arguments.has("text")
        png = arguments.string("png")
        svg = arguments.string("svg")
        for path in [png, svg].compactMap({ $0 }) { try OutputPath.check(path, overwrite: true) }
        let duration = try arguments.duration("duration") ?? .seconds(300)
        guard duration <= .seconds(300) else {
            throw GantryError(.invalidArgument, "A code is shown for 5 minutes at most. Give --duration 5m or less.")
        }
        controller = try StudioController(
            configuration: StudioConfiguration(
                name: try arguments.displayName("name"), stateDirectory: arguments.string("state-dir")))
        pairing = try controller.beginPairing(
            address: arguments.string("address"), port: try arguments.port("port", allowsAny: true) ?? 0,
            duration: duration)
    }

    func run() throws(GantryError) -> ExitStatus {
        let signals = try SignalWatch { [pairing] _ in pairing.cancel() }
        defer { signals.stop() }
        let display = CodeDisplay(json: json, asText: asText, png: png, svg: svg)
        let showing = Task.detached { [pairing] in
            for await event in pairing.events { display.show(event, cancel: pairing.cancel) }
        }
        let result: Result<PairedDevice, GantryError>
        do throws(GantryError) {
            result = .success(try pairing.run())
        } catch {
            result = .failure(error)
        }
        showing.cancel()
        display.close()
        // What could not be shown is the reason that the window was closed.
        if case .failure = result, let failure = display.failure { throw failure }
        let device = try result.get()
        if let failure = display.failure { Log.warning("\(failure)") }
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
        return .success
    }
}
