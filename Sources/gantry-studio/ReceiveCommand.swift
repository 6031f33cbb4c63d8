import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import Glibc
import StudioKit

/// `gantry-studio receive`: connects to a producer and feeds the outputs that were asked for.
struct ReceiveCommand {
    private let controller: StudioController
    private let whom: Whom
    private let outputs: ReceiveOutputs
    private let report: ReceiveReport
    private let status: StatusLine
    private let state: ReceiveState
    private let statistics: StatisticsOptions
    private let statisticsSinks: StatisticsFeed.Sinks
    private let reporter: HTTPPost?
    private let stateFolder: String
    private let takesKeys: Bool

    private enum Whom {
        case target(ProducerTarget)
        /// Pair, or take a paired producer that is here.
        case pairing(CodeWindow)
    }

    init(_ arguments: ParsedArguments) throws(GantryError) {
        if let extra = arguments.positional(RelayOptions.producerIndex(arguments) + 1) {
            throw GantryError(.invalidArgument, "\(DisplayName(extra).text) is one word too many.")
        }
        if arguments.has("no-audio") && arguments.has("no-video") {
            throw GantryError(.invalidArgument, "--no-audio and --no-video together leave nothing to receive.")
        }
        try ToolPriority.begin(arguments)
        var configuration = StudioConfiguration(
            name: try arguments.displayName("name"), stateDirectory: arguments.string("state-dir"))
        configuration.fieldOfUse = try FieldOfUse(arguments)
        if !arguments.has("pair") {
            try Self.checkPairingOptions(arguments)
            try StudioController.checkIsPaired(arguments, RelayOptions.producerIndex(arguments))
        }
        controller = try StudioController(configuration: configuration)
        // A program behind a pipe may want the keys itself.
        takesKeys = !arguments.has("json") && StandardStreams.isOutputTerminal && isatty(STDERR_FILENO) == 1
        stateFolder = try StateFolder.open(arguments.string("state-dir")).path
        whom = try Self.whom(arguments, controller)
        let state = ReceiveState()
        self.state = state
        let status = StatusLine(isEnabled: !arguments.has("json"), isPlain: arguments.has("plain"))
        self.status = status
        let report = ReceiveReport(
            json: arguments.has("json"), isFull: arguments.has("stats"),
            usesStandardOutput: !ReceiveOutputs.onStandardOutput(arguments).isEmpty, status: status)
        self.report = report
        outputs = try ReceiveOutputs(
            arguments, metersSound: status.isLive, relayChanged: { report.relay($0, $1) },
            failed: { state.outputFailed($0) })
        statistics = try StatisticsOptions(arguments, usual: StatisticsOptions.studioMetrics)
        reporter = statistics.reportURL.map { HTTPPost(url: $0) }
        statisticsSinks = try Self.sinks(statistics, report, reporter, overwrite: arguments.has("force"))
    }

    private static func sinks(
        _ options: StatisticsOptions, _ report: ReceiveReport, _ reporter: HTTPPost?, overwrite: Bool
    ) throws(GantryError) -> StatisticsFeed.Sinks {
        var sinks = StatisticsFeed.Sinks()
        if options.showsLines { sinks.line = { report.statistics($0) } }
        if let path = options.csvPath {
            let file = try TextFile(path: path, overwrite: overwrite)
            sinks.csv = { text throws(GantryError) in try file.append(text) }
        }
        if let reporter { sinks.report = { text throws(GantryError) in try reporter.send(json: text) } }
        return sinks
    }

    private static func checkPairingOptions(_ arguments: ParsedArguments) throws(GantryError) {
        for option in ["png", "svg", "text", "confirm", "address", "port"] where arguments.isTyped(option) {
            throw GantryError(.invalidArgument, "--\(option) is for pairing: give --pair as well.")
        }
    }

    private static func whom(
        _ arguments: ParsedArguments, _ controller: StudioController
    ) throws(GantryError) -> Whom {
        guard arguments.has("pair") else {
            return .target(try controller.target(arguments.positional(RelayOptions.producerIndex(arguments))))
        }
        if let name = arguments.positional(RelayOptions.producerIndex(arguments)) {
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
        if status.isLive { report.show(ReceiveView(session, outputs, name: target.name)) }
        let jobs = try JobControl(status)
        defer { jobs?.stop() }
        let pressing = ReceiveKeys(session: session, report: report, end: state.stop)
        let keys = takesKeys ? KeyReader(aside: report.aside) { pressing.pressed($0) } : nil
        defer { keys?.stop() }
        let signals = try SignalWatch(beforeDeath: { keys?.restore() }, received: { [state] _ in state.stop() })
        defer { signals.stop() }
        if keys != nil { report.note(ReceiveKeys.help) }
        let control = ReceiveControl(session)
        let server = startServer(control)
        defer { server?.stop() }
        let preview = try outputs.preview.map { window throws(GantryError) in
            try PreviewControl(window, session, outputs, report) { [state] in state.stop() }
        }
        let listening = Task.detached { [report, state, camera = outputs.virtualCamera, trace = outputs.trace] in
            for await event in session.events {
                control.event(event)
                report.event(event)
                camera?.follow(event)
                preview?.follow(event)
                trace?.follow(event)
                if case .ended(let error) = event { state.ended(error) }
            }
        }
        let feed = try startStatistics(session)
        defer {
            reporter?.stop()
            feed?.stop()
        }
        try session.start()
        waitForEnd(session)
        // What is typed from now on is for the shell.
        keys?.stop()
        session.close()
        session.waitUntilEnded()
        server?.stop()
        _ = state.waitUntilEnded(until: MonotonicClock.now() + .seconds(2))
        listening.cancel()
        preview?.stop()
        outputs.finish()
        let failure = state.outputFailure ?? state.sessionFailure
        report.summary(session.statistics, outputs, failed: failure != nil)
        if let failure { throw failure }
        return .success
    }

    private func startStatistics(_ session: StudioSession) throws(GantryError) -> StatisticsFeed? {
        guard statistics.isWanted else { return nil }
        let figures = StudioFigures(session, outputs)
        let feed = StatisticsFeed(statistics, prefix: "gantry_studio", sinks: statisticsSinks) { figures.sample() }
        try feed.start()
        if let endpoint = feed.metricsEndpoint { report.answersMetrics(at: endpoint) }
        return feed
    }

    /// Without a socket it goes on: it only cannot be asked.
    private func startServer(_ control: ReceiveControl) -> ControlServer? {
        do throws(GantryError) {
            for slot in RunningReceives.slots {
                let address = ControlAddress(studio: controller.keyID, slot: slot, stateFolder: stateFolder)
                guard let server = try free(address, control) else { continue }
                try server.start()
                return server
            }
            Log.warning(
                "\(RunningReceives.slots.count) receive already. This one cannot be asked or changed from outside.")
        } catch {
            Log.warning("\(error) This one cannot be asked or changed from outside.")
        }
        return nil
    }

    /// Nil when another one answers there.
    private func free(_ address: ControlAddress, _ control: ReceiveControl) throws(GantryError) -> ControlServer? {
        do throws(GantryError) {
            return try ControlServer(address, handler: control)
        } catch {
            guard error.code == .busy else { throw error }
            return nil
        }
    }

    /// Shows how it goes until the session ends, enough has been received, an output fails or a signal comes.
    private func waitForEnd(_ session: StudioSession) {
        var nextTrace = MonotonicClock.now()
        while !state.waitForChange(until: MonotonicClock.now() + .milliseconds(100)) {
            let statistics = session.statistics
            report.progress(statistics, behind: session.replay.status.behind)
            guard let trace = outputs.trace, MonotonicClock.now() >= nextTrace else { continue }
            nextTrace = nextTrace + .seconds(1)
            trace.note(statistics)
        }
    }
}
