import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// The live view of `receive`: follows what happens, and makes a panel of it a few times a second. Any thread.
final class ReceiveView: @unchecked Sendable {  // What varies is guarded by `lock`.
    private enum Phase { case connecting, receiving, paused, waiting }

    private let session: StudioSession
    private let outputs: ReceiveOutputs
    private let figures: StudioFigures
    private let lock = Lock()
    private var phase = Phase.connecting
    private var name: String
    private var address = ""
    private var format: VideoStreamFormat?
    private var rate: VideoRate?
    private var stopped: MediaSelection = []
    private var isPictureOff = false
    private var live = LiveFigures(curve: "totalMillisecondsP95")

    /// - Parameter name: of the producer, until it has told its own.
    init(_ session: StudioSession, _ outputs: ReceiveOutputs, name: String) {
        self.session = session
        self.outputs = outputs
        self.name = name
        figures = StudioFigures(session, outputs)
    }

    func follow(_ event: StudioEvent) {
        lock.withLock {
            switch event {
            case .connecting: phase = .connecting
            case .connected(let name, let address, _):
                (self.name, self.address) = (name, address)
                phase = .receiving
            case .format(.video(let video)): format = video
            case .rate(let rate): self.rate = rate
            case .videoState(let status):
                isPictureOff = status.state == .disabled
                if status.state == .warning { live.warn("the connection is poor") }
            case .paused: phase = .paused
            case .resumed: phase = .receiving
            case .stoppedHere(let media): stopped = media
            case .disconnected(let error):
                phase = .waiting
                if let error { live.warn(error.message) }
            case .decodingFailed(let error): live.warn(error.message)
            default: break
            }
        }
    }

    /// Something that a person should know; stays for a minute.
    func warn(_ text: String) { lock.withLock { live.warn(text) } }

    func panel() -> LivePanel {
        lock.withLock {
            let time = MonotonicClock.now()
            live.sample(at: time, figures.sample)
            var rows = [
                LivePanel.Row("picture", .text(picture)), LivePanel.Row("latency", .curve(latency, live.curve.values)),
            ]
            if let levels = outputs.levels?.meter.take() { rows.append(.init("sound", .levels(levels))) }
            rows.append(.init("dropped", .text(dropped), isWarning: hasDropped))
            if !outputsNow.isEmpty { rows.append(.init("outputs", .text(outputsNow))) }
            rows += live.warnings(at: time)
            return LivePanel(
                title: name, state: [state] + path + [CodeCountdown.clock(time - outputs.startTime)], rows: rows)
        }
    }

    // MARK: Under the lock

    private var state: String {
        switch phase {
        case .connecting: "connecting"
        case .waiting: "waiting for it"
        case .paused: "paused there"
        case .receiving:
            stopped == .all
                ? "paused here"
                : stopped.contains(.video) ? "picture paused here" : isPictureOff ? "picture off" : "receiving"
        }
    }

    /// The way that media take.
    private var path: [String] {
        guard phase == .receiving || phase == .paused, !address.isEmpty else { return [] }
        if session.target.url != nil { return ["by URL"] }
        if address.hasPrefix("usb") { return ["USB"] }
        return [live.now["udpLossPercent"] == nil ? "LAN, TCP" : "LAN, UDP", address]
    }

    private var picture: [String] {
        let size = format.map { "\($0.width)x\($0.height)" } ?? "-"
        return [size, "\(live.number("fps")) fps", "\(live.number("videoMegabitsPerSecond", 2)) Mbit/s", live.step]
            + (rate.map { ["of \(Bitrate.rate($0.bitrate))"] } ?? [])
    }

    private var latency: String {
        "p50 \(live.number("totalMillisecondsP50")) · p95 \(live.number("totalMillisecondsP95")) ms"
    }

    private var dropped: [String] {
        [
            "producer \(live.number("framesSkippedByProducer", 0))", "network \(live.number("framesLost", 0))",
            "decoder \(live.number("framesDropped", 0))", "sound \(live.number("audioPacketsLost", 0))",
            live.now["udpLossPercent"].map { "UDP loss \(Figures.decimal($0, places: 1)) %" } ?? "",
        ]
    }

    private var hasDropped: Bool {
        ["framesLost", "framesDropped", "audioPacketsLost"].contains { live.now[$0] ?? 0 > 0 }
    }

    private var outputsNow: [String] {
        var pieces: [String] = []
        if let path = outputs.recordingPath { pieces.append("recording \(path)") }
        let replay = session.replay.status
        if replay.isArmed {
            let held = "\(Figures.decimal(replay.held.seconds, places: 0)) s"
            pieces.append(
                replay.behind.map { "replay \(Figures.decimal($0.seconds, places: 1)) s behind, of \(held)" }
                    ?? "replay holds \(held)")
        }
        if let camera = outputs.virtualCamera?.camera {
            pieces.append("camera \(camera.path), \(camera.statistics.dropped) left out")
        }
        if let sound = outputs.sound?.figures { pieces.append(sound.isPlaying ? "sound plays" : "sound waits") }
        return pieces
    }
}
