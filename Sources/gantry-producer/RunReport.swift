import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import ProducerKit

/// What `run` tells: lines and a live view or a status line for people, JSON lines for programs. Any thread.
final class RunReport: Sendable {
    private let json: Bool
    private let label: String
    /// Where the sound comes from, when it is another source.
    private let audioLabel: String?
    private let info: MediaSourceInfo
    private let camera: CameraSource?
    private let status: StatusLine
    /// Nil: a line is enough.
    let view: RunView?
    private let startTime = MonotonicClock.now()

    init(json: Bool, isPlain: Bool, _ input: SourceFactory, _ controller: ProducerController) {
        self.json = json
        label = input.label
        audioLabel = input.audioLabel == input.label ? nil : input.audioLabel
        info = input.source.info
        camera = input.camera
        let status = StatusLine(isEnabled: !json, isPlain: isPlain)
        let view = status.isLive ? RunView(controller, input) : nil
        self.status = status
        self.view = view
        Log.setSink { line in
            if line.hasPrefix("warning: ") || line.hasPrefix("error: ") { view?.warn(String(line.dropLast())) }
            status.write(line)
        }
    }

    func started(_ controller: ProducerController, studios: Int, waits: Bool) {
        let port = controller.port ?? 0
        if json {
            emit(
                "started",
                [
                    .init("port", .integer(Int64(port))), .init("key", .string(controller.keyID.description)),
                    .init("source", .string(label)), .init("audioSource", .optional(audioLabel)),
                    .init("pairedStudios", .integer(Int64(studios))),
                ])
            return
        }
        status.write("Sending \(label)\(describe(info)) on port \(port).\n")
        if studios == 0 {
            status.write("No studio is paired yet: run `gantry-studio pair` there and `gantry-producer pair` here.\n")
        } else if waits {
            status.write("The file begins when the first studio receives. Ctrl-C ends.\n")
        } else {
            status.write("Waiting for a studio. Ctrl-C ends.\n")
        }
    }

    /// Takes the live view away while the process is stopped.
    func jobControl() throws(GantryError) -> JobControl? { try JobControl(status) }

    /// No live view while `stop` runs, which stops the process.
    func aside(_ stop: () -> Void) { status.aside(stop) }

    /// Tells people something; nothing for programs.
    func note(_ text: String) { if !json { status.write(text + "\n") } }

    func event(_ event: ProducerEvent) {
        view?.follow(event)
        switch event {
        case .started, .stopped: break
        case .advertised(let name):
            say("advertised", "Studios find it as \(name).", [.init("name", .string(name))])
        case .discoveryUnavailable(let error):
            say(
                "discoveryUnavailable", "Studios reach this one by its address only. \(error)",
                [.init("error", .string(error.description))])
        case .connected(let peer):
            say("connected", "\(peer.name) receives.", [.init("name", .string(peer.name)), address(peer.address)])
        case .disconnected(let peer, let error):
            say(
                "disconnected", "\(peer.name) has gone\(error.map { ": \($0)" } ?? ".")",
                [.init("name", .string(peer.name)), .init("error", .optional(error?.description))])
        case .refused(let from, let error):
            say(
                "refused", "\(from) was refused: \(error)", [address(from), .init("error", .string(error.description))])
        case .videoFormat(let width, let height, let bitrate):
            say(
                "format",
                bitrate.map { "Encoding \(width)x\(height) at \(Bitrate.rate($0))." }
                    ?? "Passing on \(width)x\(height) as the camera codes it.",
                [
                    .init("width", .integer(Int64(width))), .init("height", .integer(Int64(height))),
                    .init("bitrate", bitrate.map { .integer(Int64($0)) } ?? .null),
                ])
        case .usb(let state): say("usb", "USB: \(Self.words(state)).", [.init("state", .string("\(state)"))])
        case .studioAsks(let request):
            say(
                "studioAsks",
                "\(request.name) (key \(request.keyID.short)) is on the USB cable and is not paired. Decide within 30 "
                    + "seconds, here or with: gantry-producer admit no|once|always",
                Self.fields(request))
        case .requestEnded(let request):
            say("requestEnded", "The question about \(request.name) is over.", Self.fields(request))
        // The devices follow by themselves (`ControllerSink`), and who receives has been said.
        case .demandChanged: break
        case .paused: say("paused", "Paused. Go on with: gantry-producer resume", [])
        case .resumed: say("resumed", "Resumed.", [])
        case .streamBegan(let kind):
            say("streamBegan", "Studios are offered \(Self.word(kind)) again.", [.init("kind", .string("\(kind)"))])
        case .streamEnded(let kind):
            say("streamEnded", "Studios are offered no \(Self.word(kind)) now.", [.init("kind", .string("\(kind)"))])
        case .failed(let error):
            say("failed", "Video has failed: \(error)", [.init("error", .string(error.description))])
        }
    }

    private static func word(_ kind: MediaKind) -> String { kind == .video ? "picture" : "sound" }

    private static func fields(_ request: StudioRequest) -> [JSONValue.Member] {
        [.init("name", .string(request.name)), .init("key", .string(request.keyID.description))]
    }

    private static func words(_ state: USBState) -> String {
        switch state {
        case .unbound: "the gadget is on no controller. Bind it with: sudo gantry-gadget bind (docs/usb.md)"
        case .waiting: "ready; plug the cable into a studio"
        case .attached: "a host has taken us"
        case .suspended: "the host sleeps"
        }
    }

    /// No status line while `asking`, which writes to the terminal.
    func ask<R>(_ asking: () throws(GantryError) -> R) throws(GantryError) -> R {
        try status.aside(asking)
    }

    /// Somebody has handed a code to this process by its control socket.
    func paired(_ name: String, key: String) {
        say("paired", "Paired with \(name).", [.init("name", .string(name)), .init("key", .string(key))])
    }

    func progress(_ controller: ProducerController) {
        guard !json else { return }
        if let view { return status.show(live: view.panel()) }
        // The figures are asked for only when a line is due.
        status.show(Self.line(controller.statistics, isPaused: controller.isPaused))
    }

    private static func line(_ now: ProducerStatistics, isPaused: Bool) -> String {
        (isPaused ? "paused · " : "")
            + "\(now.connections) studio\(now.connections == 1 ? "" : "s") · \(now.framesSent) frames · "
            + "\(now.framesSkipped + now.framesReplaced) left out · "
            + "encode p50 \(milliseconds(now.encodeMicrosecondsP50)) ms"
    }

    func summary(_ result: ProducerStatistics) {
        let usage = ProcessUsage.current
        let elapsed = (MonotonicClock.now() - startTime).seconds
        let processor = elapsed > 0 ? usage.processorTime.seconds / elapsed * 100 : 0
        status.clear()
        if json {
            emit(
                "summary",
                [
                    .init("framesEnqueued", .integer(Int64(result.framesEnqueued))),
                    .init("framesSent", .integer(Int64(result.framesSent))),
                    .init("framesReplaced", .integer(Int64(result.framesReplaced))),
                    .init("framesSkipped", .integer(Int64(result.framesSkipped))),
                    .init("videoBytes", .integer(Int64(result.videoBytes))),
                    .init("audioPacketsSent", .integer(Int64(result.audioPacketsSent))),
                    .init("encodeP50", .integer(Int64(result.encodeMicrosecondsP50))),
                    .init("encodeP95", .integer(Int64(result.encodeMicrosecondsP95))),
                    .init("cpuPercent", .number(processor)), .init("cpuSeconds", .number(usage.processorTime.seconds)),
                    .init("residentBytes", .integer(Int64(usage.residentBytes))),
                ] + cameraFields)
        } else {
            status.write(
                "Sent \(result.framesSent) frames and \(result.audioPacketsSent) sound packets, left out "
                    + "\(result.framesSkipped + result.framesReplaced); encoding took "
                    + "\(Self.milliseconds(result.encodeMicrosecondsP50)) ms a frame (p95 "
                    + "\(Self.milliseconds(result.encodeMicrosecondsP95))).\n")
        }
    }

    /// What became of the camera's pictures before they were the producer's.
    private var cameraFields: [JSONValue.Member] {
        guard let counts = camera?.statistics else { return [] }
        return [
            .init(
                "camera",
                .object([
                    .init("delivered", .integer(Int64(counts.delivered))), .init("lost", .integer(Int64(counts.lost))),
                    .init("skipped", .integer(Int64(counts.skipped))),
                    .init("damaged", .integer(Int64(counts.damaged))),
                    .init("dropped", .integer(Int64(counts.dropped))),
                    .init("fps", counts.measuredRate.map { .number($0) } ?? .null),
                ]))
        ]
    }

    /// Of the last second.
    func statistics(_ figures: MetricSet) {
        if json { emit("statistics", figures.json) } else { status.write(ProducerFigures.line(figures)) }
    }

    func answersMetrics(at endpoint: Endpoint) {
        say(
            "metrics", "Metrics are at http://\(endpoint)/metrics.",
            [.init("url", .string("http://\(endpoint)/metrics"))])
    }

    private func say(_ event: String, _ text: String, _ fields: [JSONValue.Member]) {
        if json { emit(event, fields) } else { status.write(text + "\n") }
    }

    private func emit(_ event: String, _ fields: [JSONValue.Member]) {
        StandardStreams.writeOutput(JSONValue.object([.init("event", .string(event))] + fields).text + "\n")
    }

    private func address(_ text: String) -> JSONValue.Member { .init("address", .string(text)) }

    private func describe(_ info: MediaSourceInfo) -> String {
        var parts: [String] = []
        if let video = info.video { parts.append("\(video.width)x\(video.height) at \(video.frameRate) fps") }
        parts.append(info.audio == nil ? "no sound" : audioLabel.map { "sound of \($0)" } ?? "with sound")
        return " (\(parts.joined(separator: ", ")))"
    }

    private static func milliseconds(_ microseconds: Int) -> String { Figures.milliseconds(microseconds) }
}
