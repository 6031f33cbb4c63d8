import CommandLineKit
import GantryCore
import GantryPlatform
import Glibc
import StudioKit

/// A pairing window on this terminal: shows the code until a producer is paired, or until one that is paired already is
/// found, for whoever takes that as well.
final class CodeWindow: Sendable {
    static let options = [
        Option(
            "png", value: "FILE",
            help: "Also write the code as a PNG picture, for you alone to read; removed at the end.", group: "Code"),
        Option("svg", value: "FILE", help: "The same as an SVG picture; removed at the end.", group: "Code"),
        Option("text", help: "Write the code as text to standard output instead of drawing it.", group: "Code"),
        Option(
            "confirm", help: "Ask whether the producer shows the same number before it is let in.", group: "Code"),
        Option(
            "address", value: "IP",
            help: "The address of this machine that the code names. Default: that of the first network.",
            group: "Connection"),
        Option(
            "port", short: "p", value: "PORT", help: "TCP port for pairing. Default: any.", group: "Connection",
            form: .port(allowsAny: true)),
    ]

    private let controller: StudioController
    private let display: CodeDisplay
    private let pairing: StudioPairing
    private let takesPaired: Bool
    /// The name of a paired producer that is here.
    private let found = BoundedQueue<String>(capacity: 1)

    /// - Parameter takesPaired: a producer that is paired and can be reached ends the window as well.
    init(
        _ arguments: ParsedArguments, _ controller: StudioController, duration: MediaDuration = .seconds(300),
        takesPaired: Bool
    ) throws(GantryError) {
        self.controller = controller
        self.takesPaired = takesPaired
        let asksForConfirmation = arguments.has("confirm")
        // Not only when a producer is waiting for the answer.
        if asksForConfirmation { try YesNoPrompt.check(withoutTerminal: ComparisonQuestion.withoutTerminal) }
        let dumpGuard = CoreDumpGuard()
        let pictures = try CodePictures(
            png: arguments.string("png"), svg: arguments.string("svg"),
            usesStandardOutput: arguments.has("json") || arguments.has("text"))
        pairing = try controller.beginPairing(
            address: arguments.string("address"), port: try arguments.port("port", allowsAny: true) ?? 0,
            duration: duration, asksForConfirmation: asksForConfirmation)
        pairing.keepUntilClosed(dumpGuard)
        display = try CodeDisplay(
            json: arguments.has("json"), asText: arguments.has("text"), pictures: pictures,
            windowEnds: pairing.deadline)
    }

    /// Blocks until there is a producer to connect to. The window stays on guard until `close`.
    func run() throws(GantryError) -> PairedDevice {
        // SIGQUIT as well: its core file would hold the code.
        let signals = try SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGQUIT], beforeDeath: display.abandon) {
            [pairing] _ in pairing.cancel()
        }
        defer { signals.stop() }
        let result = showEvents { () throws(GantryError) in try pairing.run() }
        display.close()
        if case .failure = result, let name = found.pop(until: MonotonicClock.now()) {
            return try controller.pairedDevice(named: name)
        }
        // What could not be shown is the reason that the window was closed.
        if case .failure = result, let failure = display.failure { throw failure }
        let device = try result.get()
        if let failure = display.failure { Log.warning("\(failure)") }
        return device
    }

    /// Ends the guard. After a success.
    ///
    /// - Throws: the alarm, when a second device has come with the same code; then nobody is paired.
    func close() throws(GantryError) {
        pairing.close()
        if let alarm = pairing.alarm { throw alarm }
    }

    /// Ends the window for a paired producer, once it has let us in: its advert may be anybody's, and would close every
    /// window otherwise.
    private func take(_ name: String) {
        do throws(GantryError) {
            _ = try NamedThread("studio-check") { [controller, pairing, found] in
                do throws(GantryError) {
                    try controller.checkConnection(to: try controller.pairedDevice(named: name), searches: true)
                    if found.push(name) { pairing.cancel() }
                } catch {
                    Log.info("\(name) is advertised and cannot be received: \(error)")
                }
            }
        } catch {
            Log.warning("\(error)")
        }
    }

    /// Runs `body` while the window's events are shown, and returns when the last one is.
    private func showEvents<Value: Sendable>(
        during body: () throws(GantryError) -> Value
    ) -> Result<Value, GantryError> {
        let isShown = BoundedQueue<Void>(capacity: 1)
        let showing = Task.detached { [self] in
            for await event in pairing.events {
                if takesPaired, case .pairedProducerFound(let name) = event { take(name) }
                display.show(event, of: pairing)
            }
            isShown.push(())
        }
        let result = Result { () throws(GantryError) in try body() }
        // What is in the stream already is still shown after this.
        showing.cancel()
        _ = isShown.pop(until: MonotonicClock.now() + .seconds(1))
        return result
    }
}
