import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// `gantry-studio receive`: connects to a producer and feeds the outputs that were asked for.
struct ReceiveCommand {
    private let controller: StudioController
    private let target: ProducerTarget
    private let outputs: ReceiveOutputs
    private let report: ReceiveReport
    private let state: ReceiveState

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
        target = try controller.target(arguments.positional(0))
        let state = ReceiveState()
        self.state = state
        outputs = try ReceiveOutputs(arguments) { state.outputFailed($0) }
        report = ReceiveReport(
            json: arguments.has("json"), isFull: arguments.has("stats"), usesStandardOutput: outputs.usesStandardOutput)
    }

    func run() throws(GantryError) -> ExitStatus {
        let session = controller.makeSession(target, configuration: outputs.configuration)
        let signals = try SignalWatch { [state] _ in state.stop() }
        defer { signals.stop() }
        let listening = Task.detached { [report, state] in
            for await event in session.events {
                report.event(event)
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
        while !state.waitForChange(until: MonotonicClock.now() + .milliseconds(100)) {
            report.progress(session.statistics)
        }
    }
}
