import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import ProducerKit

/// `gantry-producer run`: plays a source to every paired studio that connects.
struct RunCommand {
    private let input: SourceFactory
    private let controller: ProducerController
    private let duration: MediaDuration?
    private let report: RunReport
    private let address: ControlAddress
    private let question: StrangerQuestion?
    private let usesUSB: Bool
    private let keepsDevices: Bool
    private let statistics: StatisticsOptions
    private let statisticsSinks: StatisticsFeed.Sinks
    private let reporter: HTTPPost?

    init(_ arguments: ParsedArguments) throws(GantryError) {
        try ToolPriority.begin(arguments)
        duration = try arguments.duration("duration")
        keepsDevices = arguments.has("keep-devices")
        let bitrate = try arguments.bitrate("bitrate", in: ProducerConfiguration.bitrates)
        let port = try arguments.port("port", allowsAny: true) ?? Endpoint.defaultPort
        let input = try SourceFactory(arguments)
        self.input = input
        let info = input.source.info
        let usb = try USBOptions.settings(arguments)
        usesUSB = usb != nil
        var configuration = ProducerConfiguration(
            name: try arguments.displayName("name"), port: port, stateDirectory: arguments.string("state-dir"),
            video: info.video.map { Self.settings($0, input, bitrate) },
            audio: info.audio == nil ? nil : .init(sourceName: input.audioLabel), usb: usb)
        configuration.transport = arguments.string("transport").flatMap(MediaTransport.init(rawValue:)) ?? .auto
        configuration.fieldOfUse = try FieldOfUse(arguments)
        controller = try ProducerController(configuration: configuration)
        address = ControlAddress(
            producer: controller.keyID, stateFolder: try StateFolder.open(arguments.string("state-dir")).path)
        report = RunReport(json: arguments.has("json"), isPlain: arguments.has("plain"), input, controller)
        statistics = try StatisticsOptions(arguments, usual: StatisticsOptions.producerMetrics)
        reporter = statistics.reportURL.map { HTTPPost(url: $0) }
        statisticsSinks = try Self.sinks(statistics, report, reporter, overwrite: arguments.has("force"))
        question = usb?.strangers == .ask && YesNoPrompt.isPossible ? StrangerQuestion(controller, report) : nil
    }

    private static func sinks(
        _ options: StatisticsOptions, _ report: RunReport, _ reporter: HTTPPost?, overwrite: Bool
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

    private static func settings(
        _ video: MediaSourceInfo.Video, _ input: SourceFactory, _ bitrate: Int?
    ) -> ProducerConfiguration.VideoSettings {
        var settings = ProducerConfiguration.VideoSettings(
            frameRate: video.frameRate, bitrate: bitrate, sourceName: input.label, sourceType: input.type)
        settings.coded = video.codedAs.map {
            VideoStreamFormat(
                codec: $0, width: video.width, height: video.height, frameRate: video.frameRate, color: video.color)
        }
        return settings
    }

    func run() throws(GantryError) -> ExitStatus {
        // 6 MB less for x264's pictures, in the same time: docs/performance.md.
        HugePages.avoid()
        let state = RunState()
        let events = controller.events
        try controller.start()
        let feed = try startStatistics()
        defer {
            reporter?.stop()
            feed?.stop()
        }
        let streams = OfferedStreams(controller)
        let control = RunControl(controller, input, streams, paired: report.paired)
        let server = startServer(control)
        defer { server?.stop() }
        let jobs = try report.jobControl()
        defer { jobs?.stop() }
        let pressing = RunKeys(control: control, report: report) { state.ended(.signal) }
        // Where strangers are asked about, what is typed is the answer. Standard input may be the source.
        let keys =
            report.view != nil && question == nil
            ? KeyReader(aside: { [report] in report.aside($0) }, pressed: { pressing.pressed($0) }) : nil
        defer { keys?.stop() }
        let signals = try SignalWatch(beforeDeath: { keys?.restore() }, received: { _ in state.ended(.signal) })
        defer { signals.stop() }
        report.started(
            controller, studios: try controller.pairedDevices.count { $0.kind == .studio },
            waits: input.waitsForStudio)
        if keys != nil { report.note(RunKeys.help) }
        let listening = Task.detached { [report, question] in
            for await event in events {
                if case .connected = event { state.studioConnected() }
                control.event(event)
                report.event(event)
                question?.event(event)
            }
        }
        let source = try startSource(state, streams)
        let service = ServiceNotify()
        service.ready(status: usesUSB ? "Sending on USB and network" : "Sending on the network")
        let end = waitForEnd(state, control)
        // What is typed from now on is for the shell.
        keys?.stop()
        service.stopping()
        question?.close()
        control.stop()
        server?.stop()
        input.source.stop()
        state.finish()
        source.join()
        // The last picture of a source that has ended is still on its way to the encoder.
        _ = controller.waitForVideoRoom(until: MonotonicClock.now() + .seconds(1))
        controller.stop()
        listening.cancel()
        report.summary(controller.statistics)
        if case .source(.endedEarly(let error)) = end { throw error }
        return .success
    }

    private func startStatistics() throws(GantryError) -> StatisticsFeed? {
        guard statistics.isWanted else { return nil }
        let figures = ProducerFigures(controller)
        let feed = StatisticsFeed(statistics, prefix: "gantry_producer", sinks: statisticsSinks) { figures.sample() }
        do throws(GantryError) {
            try feed.start()
        } catch {
            controller.stop()
            throw error
        }
        if let endpoint = feed.metricsEndpoint { report.answersMetrics(at: endpoint) }
        return feed
    }

    /// Without a socket the producer goes on: it only cannot be asked.
    private func startServer(_ control: RunControl) -> ControlServer? {
        do throws(GantryError) {
            let server = try ControlServer(address, handler: control)
            try server.start()
            return server
        } catch {
            Log.warning("\(error) This one cannot be asked for its status, paused or resumed.")
            return nil
        }
    }

    private func startSource(_ state: RunState, _ streams: OfferedStreams) throws(GantryError) -> NamedThread {
        let sink = ControllerSink(controller, streams, keepsDevices: keepsDevices, levels: report.view?.levels)
        let source = input.source
        let waits = input.waitsForStudio
        return try NamedThread("source", urgency: .picture) {
            if waits && !state.waitForStudio() { return }
            state.ended(.source(source.run(start: MonotonicClock.now(), sink: sink)))
        }
    }

    /// Shows how it goes until the source ends, the time is over, or a signal comes.
    private func waitForEnd(_ state: RunState, _ control: RunControl) -> RunState.End {
        let start = MonotonicClock.now()
        while true {
            let next = MonotonicClock.now() + .milliseconds(250)
            let limit = duration.map { start + $0 }
            if let end = state.waitForEnd(until: min(next, limit ?? next)) { return end }
            if let limit, MonotonicClock.now() >= limit { return .source(.finished) }
            control.sample()
            report.progress(controller)
        }
    }
}
