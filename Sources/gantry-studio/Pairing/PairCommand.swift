import CommandLineKit
import GantryCore
import GantryPlatform
import StudioKit

/// `gantry-studio pair`: shows a code and waits for the producer that scans it.
struct PairCommand {
    private let json: Bool
    private let controller: StudioController
    private let window: CodeWindow

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        let duration = try arguments.duration("duration") ?? .seconds(300)
        guard duration <= .seconds(300) else {
            throw GantryError(.invalidArgument, "A code is shown for 5 minutes at most. Give --duration 5m or less.")
        }
        controller = try StudioController(
            configuration: StudioConfiguration(
                name: try arguments.displayName("name"), stateDirectory: arguments.string("state-dir")))
        window = try CodeWindow(arguments, controller, duration: duration, takesPaired: false)
    }

    func run() throws(GantryError) -> ExitStatus {
        let device = try window.run()
        let connection = Result { () throws(GantryError) in
            // Where it has just been met.
            try controller.checkConnection(to: device, searches: false)
        }
        // Until here a second device with the same code would have been noticed.
        try window.close()
        report(device, connection)
        return .success
    }

    private func report(_ device: PairedDevice, _ connection: Result<Void, GantryError>) {
        var failure: GantryError?
        if case .failure(let error) = connection { failure = error }
        if json {
            StandardStreams.writeOutput(
                JSONValue.object([
                    .init("event", "paired"), .init("name", .string(device.displayedName)),
                    .init("key", .string(device.keyID.description)), .init("address", .optional(device.lastAddress)),
                    .init("connected", .bool(failure == nil)), .init("error", .optional(failure?.description)),
                ]).text + "\n")
            return
        }
        let receive = "gantry-studio receive \(ShellWord.quoted(device.displayedName))"
        if let failure, failure.code != .cannotConnect && failure.code != .timeout {
            StandardStreams.writeError(
                "Paired with \(device.displayedName), but the first connection failed: \(failure)\nReceive with: \(receive)\n"
            )
        } else if failure != nil {
            StandardStreams.writeError(
                "Paired with \(device.displayedName). It does not send yet: start it there with `gantry-producer run`, then "
                    + "receive with: \(receive)\n")
        } else {
            StandardStreams.writeError(
                "Paired with \(device.displayedName), and connected to it. Receive with: \(receive)\n")
        }
    }
}
