import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// `gantry-studio receive`: connects to a producer and feeds the outputs that were asked for.
struct ReceiveCommand {
    private let controller: StudioController
    private let whom: Whom
    private let outputs: ReceiveOutputs
    private let report: ReceiveReport
    private let state: ReceiveState

    private enum Whom {
        case target(ProducerTarget)
        /// Pair, or take a paired producer that is here.
        case pairing(CodeWindow)
    }

    init(_ arguments: ParsedArguments) throws(GantryError) {
        if let extra = arguments.positional(1) {
            throw GantryError(.invalidArgument, "\(DisplayName(extra).text) is one word too many.")
        }
        if arguments.has("no-audio") && arguments.has("no-video") {
            throw GantryError(.invalidArgument, "--no-audio and --no-video together leave nothing to receive.")
        }
        controller = try StudioController(
            configuration: StudioConfiguration(
                name: try arguments.displayName("name"), stateDirectory: arguments.string("state-dir")))
        whom = try Self.whom(arguments, controller)
        let state = ReceiveState()
        self.state = state
        outputs = try ReceiveOutputs(arguments) { state.outputFailed($0) }
        report = ReceiveReport(
            json: arguments.has("json"), isFull: arguments.has("stats"), usesStandardOutput: outputs.usesStandardOutput)
    }

    private static func whom(
        _ arguments: ParsedArguments, _ controller: StudioController
    ) throws(GantryError) -> Whom {
        guard arguments.has("pair") else {
            for option in ["png", "svg", "text", "confirm", "address", "port"] where arguments.has(option) {
                throw GantryError(.invalidArgument, "--\(option) is for pairing: give --pair as well.")
            }
            return .target(try controller.target(arguments.positional(0)))
        }
        if let name = arguments.positional(0) {
            throw GantryError(
                .invalidArgument,
                "--pair takes whichever producer scans the code: leave \(DisplayName(name).text) out, or leave --pair out."
            )
        }
        return .pairing(try CodeWindow(arguments, controller, takesPaired: true))
    }

    func run() throws(GantryError) -> ExitStatus {
        switch whom {
        case .target(let target): return try receive(target)
        case .pairing(let window):
            let device = try window.run()
            // The window stays on guard meanwhile: after an alarm the device is removed, which ends the session.
            let status = Result { () throws(GantryError) in try receive(ProducerTarget(device)) }
            try window.close()
            return try status.get()
        }
    }

    private func receive(_ target: ProducerTarget) throws(GantryError) -> ExitStatus {
        let session = controller.makeSession(target, configuration: outputs.configuration)
        let signals = try SignalWatch { [state] _ in state.stop() }
        defer { signals.stop() }
        let listening = Task.detached { [report, state, camera = outputs.virtualCamera, trace = outputs.trace] in
            for await event in session.events {
                report.event(event)
                camera?.follow(event)
                trace?.follow(event)
                if case .ended(let error) = event { state.ended(error) }
            }
        }
        try session.start()
        waitForEnd(session)
        session.close()
        session.waitUntilEnded()
        _ = state.waitUntilEnded(until: MonotonicClock.now() + .seconds(2))
        listening.cancel()
        outputs.finish()
        let failure = state.outputFailure ?? state.sessionFailure
        report.summary(session.statistics, outputs, failed: failure != nil)
        if let failure { throw failure }
        return .success
    }

    /// Shows how it goes until the session ends, enough has been received, an output fails or a signal comes.
    private func waitForEnd(_ session: StudioSession) {
        var nextTrace = MonotonicClock.now()
        while !state.waitForChange(until: MonotonicClock.now() + .milliseconds(100)) {
            let statistics = session.statistics
            report.progress(statistics)
            guard let trace = outputs.trace, MonotonicClock.now() >= nextTrace else { continue }
            nextTrace = nextTrace + .seconds(1)
            trace.note(statistics)
        }
    }
}
