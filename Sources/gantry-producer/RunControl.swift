import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import ProducerKit

/// What a running producer does for the clients of its control socket; `docs/control-socket.md` lists the methods.
///
/// Any thread: each client has its own.
final class RunControl: ControlHandler, @unchecked Sendable {
    // `lock` guards meter, pairing and discoveryName; `pausing` is held while source and controller change together.
    private let controller: ProducerController
    private let input: SourceFactory
    private let streams: OfferedStreams
    private let paired: @Sendable (_ name: String, _ key: String) -> Void
    private let startedAt = WallClock.now()
    private let startTime = MonotonicClock.now()
    private let pausing = Lock()
    private let lock = Lock()
    private var meter = RateMeter()
    private var pairing: ControlPairing?
    private var discoveryName: String?

    /// - Parameter paired: called after each pairing that a client has begun and that succeeded.
    init(
        _ controller: ProducerController, _ input: SourceFactory, _ streams: OfferedStreams,
        paired: @escaping @Sendable (_ name: String, _ key: String) -> Void
    ) {
        self.controller = controller
        self.input = input
        self.streams = streams
        self.paired = paired
    }

    /// For the bitrate: a few times a second.
    func sample() {
        let bytes = controller.videoBytes
        lock.withLock { meter.add(bytes: bytes, at: MonotonicClock.now()) }
    }

    /// What the producer tells, as far as the status shows it.
    func event(_ event: ProducerEvent) {
        switch event {
        case .advertised(let name): lock.withLock { discoveryName = name }
        case .discoveryUnavailable: lock.withLock { discoveryName = nil }
        default: break
        }
    }

    /// Ends a pairing that a client has begun.
    func stop() { lock.withLock { pairing }?.cancel() }

    func perform(_ call: ControlCall) throws(GantryError) -> JSONValue? {
        switch call.method {
        case "status": return status
        case "pause": return pause(true)
        case "resume": return pause(false)
        case "streams": return try switchStreams(call)
        case "admit": return try admit(call)
        case "devices.list":
            return .array(try controller.pairedDevices.filter { $0.kind == .studio }.map(DevicesCommand.json))
        case "devices.remove":
            let device = try controller.pairedDevice(named: try text("device", of: call))
            try controller.removePairedDevice(device.keyID)
            return ["name": .string(device.displayedName)]
        case "devices.rename":
            let device = try controller.pairedDevice(named: try text("device", of: call))
            try controller.renamePairedDevice(device.keyID, to: try text("name", of: call))
            return ["name": .string(device.displayedName)]
        case "pair":
            try beginPairing(call)
            return nil
        case "pair.confirm":
            guard let isSame = call.parameters["same"]?.bool else { throw Self.missing("same", "true or false") }
            try ownPairing(of: call).confirm(isSame)
            return [:]
        case "pair.cancel":
            try ownPairing(of: call).cancel()
            return [:]
        default:
            throw GantryError(
                .invalidArgument,
                "There is no such method. There are: status, pause, resume, streams, admit, devices.list, "
                    + "devices.remove, devices.rename, pair, pair.confirm, pair.cancel.")
        }
    }

    func connectionEnded(_ connection: UInt64) {
        let own = lock.withLock { pairing?.connection == connection ? pairing : nil }
        own?.cancel()
    }

    // MARK: Status and pause

    private var status: JSONValue {
        let statistics = controller.statistics
        let peers =
            switch controller.state {
            case .active(let peers), .paused(let peers): peers
            case .notRunning, .notConnected: [ProducerPeer]()
            }
        // The name that the studio has now: it may have been given another one since it came.
        let devices = (try? controller.pairedDevices) ?? []
        let (bitrate, discoveryName) = lock.withLock { (meter.bitsPerSecond, self.discoveryName) }
        return [
            "name": .string(controller.displayedName), "key": .string(controller.keyID.description),
            "version": .string(GantryVersion.text), "port": .integer(Int64(controller.port ?? 0)),
            "source": .string(input.label), "startedAt": .integer(startedAt),
            "seconds": .number((MonotonicClock.now() - startTime).seconds), "paused": .bool(controller.isPaused),
            "streams": offered, "priority": .string(MediaPriority.way.rawValue),
            "studios": .array(
                peers.map { peer in
                    let name = devices.first { $0.keyID == peer.keyID }?.displayedName ?? peer.name
                    return [
                        "name": .string(name), "address": .string(peer.address),
                        "key": .string(peer.keyID.description),
                    ]
                }),
            "framesSent": .integer(Int64(statistics.framesSent)),
            "framesDropped": .integer(Int64(statistics.framesSkipped + statistics.framesReplaced)),
            "audioPacketsSent": .integer(Int64(statistics.audioPacketsSent)),
            "videoBytes": .integer(Int64(statistics.videoBytes)), "bitrate": .integer(Int64(bitrate)),
            "qualityStep": .integer(Int64(statistics.qualityStep)),
            "udpLossPercent": statistics.udpLoss.map { .number($0 * 100) } ?? .null,
            "discoveryName": .optional(discoveryName),
            "asks": controller.studioRequest.map { ["name": .string($0.name), "key": .string($0.keyID.description)] }
                ?? .null,
        ]
    }

    /// What studios are offered.
    private var offered: JSONValue {
        ["video": .bool(controller.isOffered(.video)), "audio": .bool(controller.isOffered(.audio))]
    }

    private func switchStreams(_ call: ControlCall) throws(GantryError) -> JSONValue {
        for (name, kind) in [("video", MediaKind.video), ("audio", .audio)] {
            guard let value = call.parameters[name] else { continue }
            guard let isOn = value.bool else { throw Self.missing(name, "true or false") }
            try checkHas(kind)
            streams.set(kind, isOn: isOn)
        }
        return offered
    }

    private func checkHas(_ kind: MediaKind) throws(GantryError) {
        let info = input.source.info
        guard kind == .video ? info.video != nil : info.audio != nil else {
            throw GantryError(
                .invalidState, "This producer has no \(kind == .video ? "picture" : "sound"): start it with some.")
        }
    }

    /// As `gantry-producer streams video on|off`: the other of both.
    func toggleStream(_ kind: MediaKind) throws(GantryError) {
        try checkHas(kind)
        streams.toggle(kind)
    }

    /// As `gantry-producer pause` or `resume`.
    func togglePause() { _ = pause(!controller.isPaused) }

    private func admit(_ call: ControlCall) throws(GantryError) -> JSONValue {
        guard let answer = StudioRequest.Answer(rawValue: try text("answer", of: call)) else {
            throw Self.missing("answer", "no, once or always")
        }
        guard let request = controller.studioRequest else {
            throw GantryError(.invalidState, "No studio waits for an answer: plug one in, and receive there.")
        }
        controller.answer(request, answer)
        return ["name": .string(request.name)]
    }

    private func pause(_ isPaused: Bool) -> JSONValue {
        pausing.withLock {
            // A file holds before, and goes on after, the gate: as little of it as can be is let go.
            if isPaused {
                input.source.pause()
                controller.pause()
            } else {
                controller.resume()
                input.source.resume()
            }
        }
        return ["paused": .bool(isPaused)]
    }

    // MARK: Pairing

    private func beginPairing(_ call: ControlCall) throws(GantryError) {
        var code = try text("code", of: call)
        let confirms = call.parameters["confirm"]?.bool ?? false
        let new = ControlPairing(call, controller)
        let isFirst = lock.withLock {
            if pairing != nil { return false }
            pairing = new
            return true
        }
        guard isFirst else {
            SecretText.wipe(&code)
            throw GantryError(.busy, "A pairing is running already. Wait for it, or cancel it.")
        }
        do throws(GantryError) {
            try new.start(code: code, confirms: confirms) { [weak self] device in
                self?.lock.withLock { self?.pairing = nil }
                if let device { self?.paired(device.displayedName, device.keyID.description) }
            }
        } catch {
            SecretText.wipe(&code)
            lock.withLock { pairing = nil }
            throw error
        }
    }

    private func ownPairing(of call: ControlCall) throws(GantryError) -> ControlPairing {
        guard let pairing = lock.withLock({ pairing }), pairing.connection == call.connection else {
            throw GantryError(.invalidState, "This connection has no pairing that runs. Begin with: pair")
        }
        return pairing
    }

    // MARK: Parameters

    private func text(_ name: String, of call: ControlCall) throws(GantryError) -> String {
        guard let text = call.parameters[name]?.string else { throw Self.missing(name, "text") }
        return text
    }

    private static func missing(_ name: String, _ kind: String) -> GantryError {
        GantryError(.invalidArgument, "The parameter \"\(name)\" is missing. It is \(kind).")
    }
}
