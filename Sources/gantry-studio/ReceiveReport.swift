import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// What `receive` tells: lines and a status line for people, JSON lines for programs. Any thread.
final class ReceiveReport: @unchecked Sendable {  // `rate`, `view` and `unavailable` are guarded by `lock`.
    private let json: Bool
    private let isFull: Bool
    private let status: StatusLine
    private let startTime = MonotonicClock.now()
    private let lock = Lock()
    private var rate: VideoRate?
    private var view: ReceiveView?
    /// Why the network could not be searched, as it was said last.
    private var unavailable = ""
    private let descriptor: @Sendable (String) -> Void

    /// - Parameter status: not for `json`.
    init(json: Bool, isFull: Bool, usesStandardOutput: Bool, status: StatusLine) {
        self.json = json
        self.isFull = isFull
        self.status = status
        status.takeOverLog()
        descriptor = usesStandardOutput ? StandardStreams.writeError : StandardStreams.writeOutput
    }

    /// Shows that instead of a line, where the terminal can.
    func show(_ view: ReceiveView) {
        lock.withLock { self.view = view }
        Log.setSink { [status] line in
            if line.hasPrefix("warning: ") || line.hasPrefix("error: ") { view.warn(String(line.dropLast())) }
            status.write(line)
        }
    }

    /// No live view while `stop` runs, which stops the process.
    func aside(_ stop: () -> Void) { status.aside(stop) }

    func event(_ event: StudioEvent) {
        lock.withLock { view }?.follow(event)
        switch event {
        case .connecting(let name): say("connecting", "Connecting to \(name)…", [.init("target", .string(name))])
        case .discoveryUnavailable(let error):
            // Each attempt to connect finds it out again.
            let isNew = lock.withLock {
                defer { unavailable = error.description }
                return unavailable != error.description
            }
            if isNew {
                say("discoveryUnavailable", error.description, [.init("error", .string(error.description))])
            }
        case .connected(let name, let address, let streams):
            let media = streams.filter { $0.kind != .data }
            say(
                "connected",
                "Connected to \(name) at \(address): "
                    + (media.isEmpty ? "it offers nothing." : media.map(\.description).joined(separator: ", ") + "."),
                [
                    .init("name", .string(name)), .init("address", .string(address)),
                    .init("streams", .array(streams.map(Self.json))),
                ])
        case .paired(let name):
            say("paired", "Paired with \(name), via USB.", [.init("name", .string(name))])
        case .format(.video(let video)):
            say(
                "format", "Picture: \(video.width)x\(video.height) at \(video.frameRate) fps.",
                [
                    .init("width", .integer(Int64(video.width))), .init("height", .integer(Int64(video.height))),
                    .init("fps", .number(video.frameRate.framesPerSecond)),
                ])
        case .format(.audio), .player: break
        case .streams(let change): streamsChanged(change)
        case .playbackStopped(let stream):
            say(
                "playbackStopped", "The producer has ended \(stream); it goes on when that comes again.",
                [.init("stream", Self.json(stream))])
        case .firstFrame(let microseconds):
            say(
                "firstFrame", "First picture after \(microseconds / 1000) ms.",
                [.init("afterMicroseconds", .integer(Int64(microseconds)))])
        case .rate(let rate): rateChanged(rate)
        case .videoState(let status): pictureChanged(status)
        case .paused: say("paused", "The producer has paused.", [])
        case .resumed: say("resumed", "The producer sends again.", [])
        case .replay(let behind):
            say(
                "replay",
                behind.map { "Showing what came \(Figures.decimal($0.seconds, places: 1)) s ago." } ?? "Live again.",
                [.init("behind", behind.map { .number($0.seconds) } ?? .null)])
        case .stoppedHere(let media):
            say(
                "stoppedHere", Self.stopped(media),
                [.init("video", .bool(media.contains(.video))), .init("audio", .bool(media.contains(.audio)))])
        case .decodingFailed(let error):
            say("decodingFailed", "Decoding failed: \(error)", [.init("error", .string(error.description))])
        case .disconnected(let error):
            say(
                "disconnected",
                (error.map { "\($0.message) " } ?? "The producer has ended the session. ")
                    + "It goes on when the producer is back; Ctrl-C ends.",
                [.init("error", .optional(error?.description))])
        case .ended(let error):
            if json { emit("ended", [.init("error", .optional(error?.description))]) }
        }
    }

    /// - Parameter address: of the media server, without what is secret.
    func relay(_ event: RelayEvent, _ address: String) {
        let place = JSONValue.Member("address", .string(address))
        switch event {
        case .connected:
            say("relay", "Relaying to \(address).", [.init("state", .string("connected")), place])
        case .lost(let error, let pause):
            say(
                "relay",
                "\(error) It is tried again in \(Figures.decimal(pause.seconds, places: 1)) s; receiving goes on.",
                [
                    .init("state", .string("lost")), place, .init("error", .string(error.description)),
                    .init("retrySeconds", .number(pause.seconds)),
                ])
        case .tooSlow:
            say(
                "relay",
                "\(address) takes less than comes: some is left out. A smaller picture helps: gantry-studio prefer",
                [.init("state", .string("tooSlow")), place])
        }
    }

    private static func stopped(_ media: MediaSelection) -> String {
        switch media {
        case .all: "Paused here: nothing comes. Go on with: gantry-studio resume"
        case .video: "The picture is paused here. Go on with: gantry-studio resume"
        case .audio: "The sound is paused here. Go on with: gantry-studio resume"
        default: "Nothing is paused here any more."
        }
    }

    /// For people, in the status line.
    private func rateChanged(_ rate: VideoRate) {
        lock.withLock { self.rate = rate }
        guard json else { return }
        emit(
            "rate",
            [
                .init("bitrate", .integer(Int64(rate.bitrate))),
                .init("fps", rate.frameRate.map { .number($0.framesPerSecond) } ?? .null),
                .init("step", .integer(Int64(rate.step))),
            ])
    }

    private func pictureChanged(_ status: VideoStatus) {
        let text =
            switch status.state {
            case .warning: "The connection is poor: the picture may be switched off."
            case .warningLifted: "The connection is good enough again."
            case .disabled: "The picture is off (\(status.reason)); sound goes on."
            case .enabled: "The picture is on again."
            }
        say(
            "videoState", text,
            [.init("state", .string("\(status.state)")), .init("reason", .string("\(status.reason)"))])
    }

    /// - Parameter behind: how far behind live a replay is shown; nil: none is.
    func progress(_ now: StudioStatistics, behind: MediaDuration?) {
        if status.isLive, let view = lock.withLock({ view }) { return status.show(live: view.panel()) }
        guard !json, now.framesReceived + now.audioPacketsReceived > 0 else { return }
        let replay = behind.map { "replay, \(Figures.decimal($0.seconds, places: 1)) s behind · " } ?? ""
        guard now.framesReceived > 0 else {
            return status.show(
                replay
                    + "\(Figures.decimal(now.mediaSeconds, places: 1)) s · sound, \(now.audioPacketsReceived) packets · lost "
                    + "\(now.audioPacketsLost)",
                isWarning: now.audioPacketsLost > 0)
        }
        status.show(
            replay + "\(Figures.decimal(now.mediaSeconds, places: 1)) s · "
                + (now.width > 0 ? "\(now.width)x\(now.height) " : "")
                + "\(Figures.decimal(now.framesPerSecond, places: 1)) fps · "
                + "\(Figures.decimal(now.videoBitrate / 1e6, places: 1)) Mbit/s\(lowered) · latency "
                + "\(Figures.milliseconds(now.latency.p50)) ms (p99 \(Figures.milliseconds(now.latency.p99))) · lost "
                + "\(now.framesLost + now.framesDropped)",
            isWarning: now.framesLost + now.framesDropped > 0)
    }

    /// How far the quality is lowered now; nothing at full quality.
    private var lowered: String {
        guard let rate = lock.withLock({ rate }), rate.step > 0 else { return "" }
        return " (step \(rate.step))"
    }

    /// - Parameter failed: an error follows.
    func summary(_ result: StudioStatistics, _ outputs: ReceiveOutputs, failed: Bool) {
        status.clear()
        let usage = ProcessUsage.current
        let elapsed = (MonotonicClock.now() - startTime).seconds
        let processor = elapsed > 0 ? usage.processorTime.seconds / elapsed * 100 : 0
        if json {
            emit("summary", Summary.json(result, outputs, usage: usage, processor: processor))
        } else if !failed || result.framesReceived + result.audioPacketsReceived > 0 {
            descriptor(Summary.text(result, outputs, processor: processor, isFull: isFull, failed: failed))
        }
    }

    /// What a key has made, or ended: a file.
    func file(_ event: String, _ text: String, path: String) { say(event, text, [.init("path", .string(path))]) }

    /// For people only.
    func note(_ text: String) { if !json { status.write(text + "\n") } }

    /// Of the last second.
    func statistics(_ figures: MetricSet) {
        if json { emit("statistics", figures.json) } else { status.write(StudioFigures.line(figures)) }
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

    /// While the connection stands: with it they all come and go, which is said anyway.
    private func streamsChanged(_ change: StreamChange) {
        guard change.created.count < change.streams.count, !change.created.isEmpty || !change.destroyed.isEmpty else {
            return
        }
        if json { return emit("streams", [.init("streams", .array(change.streams.map(Self.json)))]) }
        for stream in change.created { status.write("The producer now offers \(stream).\n") }
    }

    private static func json(_ stream: StreamInfo) -> JSONValue {
        .object([
            .init("channel", .integer(Int64(stream.channel))), .init("kind", .string("\(stream.kind)")),
            .init("codec", .optional(stream.codec.map { "\($0)" })), .init("name", .string(stream.name)),
        ])
    }
}
