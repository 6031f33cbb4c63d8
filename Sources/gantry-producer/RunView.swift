import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import ProducerKit

/// The live view of `run`: follows what happens, and makes a panel of it a few times a second. Any thread.
final class RunView: @unchecked Sendable {  // What varies is guarded by `lock`.
    /// Of what the source gives.
    let levels = LevelMeter()

    private let controller: ProducerController
    private let input: SourceFactory
    private let figures: ProducerFigures
    private let startTime = MonotonicClock.now()
    private let lock = Lock()
    private var format: (width: Int, height: Int, bitrate: Int?)?
    private var usb: USBState?
    private var isFound: Bool?
    private var live = LiveFigures(curve: "readyMillisecondsP95")

    /// Studios that are named.
    private static let names = 4

    init(_ controller: ProducerController, _ input: SourceFactory) {
        self.controller = controller
        self.input = input
        figures = ProducerFigures(controller)
    }

    func follow(_ event: ProducerEvent) {
        lock.withLock {
            switch event {
            case .videoFormat(let width, let height, let bitrate): format = (width, height, bitrate)
            case .usb(let state): usb = state
            case .advertised: isFound = true
            case .discoveryUnavailable: isFound = false
            case .disconnected(let peer, let error?): live.warn("\(peer.name): \(error.message)")
            case .refused(let address, let error): live.warn("\(address) was refused: \(error.message)")
            case .failed(let error): live.warn(error.message)
            default: break
            }
        }
    }

    /// Something that a person should know; stays for a minute.
    func warn(_ text: String) { lock.withLock { live.warn(text) } }

    func panel() -> LivePanel {
        let state = controller.state
        return lock.withLock {
            let time = MonotonicClock.now()
            live.sample(at: time, figures.sample)
            var rows = [
                LivePanel.Row("source", .text([input.label, "\(live.number("sourceFps")) fps"])),
                LivePanel.Row("studios", .text(studios(state.connections))),
                LivePanel.Row("picture", .text(picture)),
                LivePanel.Row("to sent", .curve(latency, live.curve.values)),
            ]
            if let levels = levels.take() { rows.append(.init("sound", .levels(levels))) }
            rows.append(.init("left out", .text(leftOut), isWarning: live.now["framesSkipped"] ?? 0 > 0))
            rows += live.warnings(at: time)
            let title = controller.displayedName
            return LivePanel(
                title: title, state: [Self.word(state)] + path + [CodeCountdown.clock(time - startTime)], rows: rows)
        }
    }

    // MARK: Under the lock

    private static func word(_ state: ProducerState) -> String {
        switch state {
        case .notRunning: "ending"
        case .notConnected: "waiting for a studio"
        case .active: "sending"
        case .paused: "paused"
        }
    }

    /// Where studios can reach it.
    private var path: [String] {
        var pieces = ["port \(controller.port ?? 0)"]
        if isFound == false { pieces.append("not announced") }
        switch usb {
        case nil: break
        case .attached?: pieces.append("USB")
        case .suspended?: pieces.append("USB asleep")
        case .waiting?, .unbound?: pieces.append("USB not plugged in")
        }
        return pieces
    }

    private func studios(_ peers: [ProducerPeer]) -> [String] {
        guard !peers.isEmpty else { return ["none"] }
        let named = peers.prefix(Self.names).map { peer in
            peer.transport == .usb ? "\(peer.name) (USB)" : "\(peer.name) (\(peer.address))"
        }
        let more = peers.count - named.count
        return named + (more > 0 ? ["\(more) more"] : [])
    }

    private var picture: [String] {
        return [
            format.map { "\($0.width)x\($0.height)" } ?? "-", "\(live.number("fps")) fps",
            "\(live.number("videoMegabitsPerSecond", 2)) Mbit/s", live.step,
            format?.bitrate.map { "of \(Bitrate.rate($0))" } ?? "",
            live.now["udpLossPercent"].map { "UDP, \(Figures.decimal($0, places: 1)) % lost" } ?? "",
        ]
    }

    /// From capture to encoded, over the last second.
    private var latency: String {
        "p50 \(live.number("readyMillisecondsP50")) · p95 \(live.number("readyMillisecondsP95")) ms"
    }

    private var leftOut: [String] {
        var pieces = ["encoder \(live.number("framesReplaced", 0))", "link \(live.number("framesSkipped", 0))"]
        if let camera = input.camera?.statistics {
            pieces.append("camera \(camera.lost + camera.damaged + camera.dropped)")
        }
        return pieces
    }
}
