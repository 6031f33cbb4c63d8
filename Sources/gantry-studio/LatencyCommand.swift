import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// `gantry-studio latency`: how long pictures take, by the time code that a producer's test pattern carries.
struct LatencyCommand {
    private static let lengths = MediaDuration.seconds(1)...MediaDuration.seconds(600)
    /// Pictures a second that there is room for.
    private static let rate = 120
    /// What comes in this time after the first picture does not count: encoder, decoder and link begin.
    private static let warmUp = MediaDuration.seconds(1)
    /// Without a time code for so long, there is none.
    private static let codeLimit = MediaDuration.seconds(3)
    /// Without a picture for so long, none comes.
    private static let pictureLimit = MediaDuration.seconds(15)

    static let table = Command(
        "latency", summary: "Measure how long pictures take, from end to end",
        options: [
            Option(
                "seconds", short: "d", value: "TIME", help: "How long to measure. Default: 10s.",
                form: .duration(lengths)),
            Option(
                "vcam", value: "DEVICE",
                help:
                    "Show the pictures with this virtual camera (v4l2loopback), and measure what a program reads from it. "
                    + "Default: the first free device.",
                optionalValue: ["/dev/", "auto"]),
            Option(
                "vcam-size", value: "WxH",
                help:
                    "Size of that camera; that of the test pattern, or the time code cannot be read. Default: 1280x720.",
                form: .size(16...8192)),
            Option("svg", value: "FILE", help: "Write a plot of it: over time, and how often which latency was."),
            Option("force", short: "f", help: "Overwrite that file when it exists."),
            ToolPriority.option,
        ] + StudioCommands.field,
        positionals: [
            Positional(
                "PRODUCER", help: "As for `gantry-studio receive`. Not needed when only one is paired.",
                isRequired: false)
        ],
        examples: [
            .init("gantry-producer run test", "there: the test pattern, which carries the time code"),
            .init("gantry-studio latency", "here: ten seconds of it"),
            .init("gantry-studio latency camera --vcam --svg latency.svg", "the virtual camera included, with a plot"),
        ],
        notes: [
            "On one machine both ends read the same clock. On two the producer's clock is estimated, and the result says how wrong "
                + "that may be."
        ])

    private let controller: StudioController
    private let target: ProducerTarget
    private let length: MediaDuration
    private let camera: VirtualCameraOutput?
    private let plot: TextFile?
    private let plotPath: String?
    private let json: Bool
    private let status: StatusLine

    init(_ arguments: ParsedArguments) throws(GantryError) {
        try ToolPriority.begin(arguments)
        json = arguments.has("json")
        length = try arguments.duration("seconds", in: Self.lengths) ?? .seconds(10)
        try StudioController.checkIsPaired(arguments, 0)
        controller = try StudioController(watching: arguments)
        target = try controller.target(arguments.positional(0))
        if target.url != nil {
            throw GantryError(
                .invalidArgument, "A stream by URL carries no time code. Measure a producer: gantry-producer run test")
        }
        plotPath = arguments.string("svg")
        plot = try plotPath.map { path throws(GantryError) in
            try TextFile(path: path, overwrite: arguments.has("force"))
        }
        camera = try ReceiveOutputs.virtualCamera(arguments)
        status = StatusLine(isEnabled: !json)
        status.takeOverLog()
    }

    func run() throws(GantryError) -> ExitStatus {
        defer { camera?.close() }
        let state = ReceiveState()
        let room = Int(length.microseconds / 1_000_000 + 30) * Self.rate
        let log = LatencyLog(capacity: room)
        let reader = try camera.map { camera throws(GantryError) in try LoopbackReader(camera.path, capacity: room) }
        defer { reader?.stop() }
        var configuration = StudioSessionConfiguration()
        configuration.wantsAudio = false
        if let camera { configuration.videoOutputs.append(camera) }
        configuration.videoOutputs.append(log)
        let session = controller.makeSession(target, configuration: configuration)
        let signals = try SignalWatch { _ in state.stop() }
        defer { signals.stop() }
        let from = LatencyPeer(session, ended: state.ended)
        try session.start()
        defer {
            session.close()
            session.waitUntilEnded()
        }
        let start = try measure(log, reader, from, state)
        status.clear()
        let result = try LatencyResult(
            session.statistics, log.entries(since: start), camera: reader?.log.entries(since: start), from)
        if json {
            StandardStreams.writeOutput(result.json.text + "\n")
        } else {
            StandardStreams.writeOutput(result.text)
        }
        if let plot {
            try plot.append(result.plot.svg)
            if let plotPath, !json { StandardStreams.writeOutput("Plot: \(TextCells.printable(plotPath))\n") }
        }
        return .success
    }

    /// Waits until it has been measured for long enough, or somebody ends it.
    ///
    /// - Returns: from when on pictures count.
    private func measure(
        _ log: LatencyLog, _ reader: LoopbackReader?, _ from: LatencyPeer, _ state: ReceiveState
    ) throws(GantryError) -> MediaTimestamp {
        var began: MediaTimestamp?
        while !state.waitForChange(until: MonotonicClock.now() + .milliseconds(100)) {
            let now = MonotonicClock.now()
            let counts = reader?.log.counts ?? log.counts
            if began == nil, log.counts.read > 0, counts.read > 0 { began = now }
            if let began {
                let done = max(.zero, now - began - Self.warmUp)
                if done >= length { break }
                status.show(
                    "measuring, \(CodeCountdown.clock(length - done)) left · \(Figures.count(counts.read, "picture"))")
            } else if let failure = failure(log, reader, from, now) {
                throw failure
            }
        }
        if let error = reader?.failure ?? state.sessionFailure { throw error }
        return (began ?? MonotonicClock.now()) + Self.warmUp
    }

    /// Why there is nothing to measure, once it has lasted too long.
    private func failure(
        _ log: LatencyLog, _ reader: LoopbackReader?, _ from: LatencyPeer, _ now: MediaTimestamp
    ) -> GantryError? {
        if let picture = from.firstPicture, now - picture > Self.codeLimit {
            if log.counts.read == 0 {
                return GantryError(
                    .sourceHasNoMedia,
                    "The pictures of \(from.name) carry no time code. Start the test pattern there: gantry-producer run test"
                )
            }
            guard let reader else { return nil }
            return reader.failure
                ?? GantryError(
                    .outputFailed,
                    "No time code can be read from \(reader.path). Give the size of the test pattern, as in: --vcam-size "
                        + (from.size.map { "\($0.width)x\($0.height)" } ?? "1280x720"))
        }
        if from.firstPicture == nil, let connected = from.connected, now - connected > Self.pictureLimit {
            return GantryError(
                .sourceSilent,
                "\(from.name) sends no picture. Look there: gantry-producer status, gantry-producer resume")
        }
        return nil
    }
}
