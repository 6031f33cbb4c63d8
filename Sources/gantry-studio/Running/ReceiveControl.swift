import CommandLineKit
import GantryCore
import GantryPlatform
import Glibc
import StudioKit

/// What a running `receive` does for the clients of its control socket; `docs/control-socket.md` lists the methods.
///
/// Any thread: each client has its own.
final class ReceiveControl: ControlHandler, @unchecked Sendable {  // `lock` guards what varies.
    private let session: StudioSession
    private let startedAt = WallClock.now()
    private let startTime = MonotonicClock.now()
    private let lock = Lock()
    private var producer: String
    private var address: String?
    private var state = "connecting"
    private var isPaused = false

    init(_ session: StudioSession) {
        self.session = session
        producer = session.target.name
    }

    /// What the session tells, as far as the status shows it.
    func event(_ event: StudioEvent) {
        lock.withLock {
            switch event {
            case .connected(let name, let address, _):
                producer = name
                self.address = address
                state = "connected"
                isPaused = false
            case .disconnected:
                address = nil
                state = "waiting"
            case .paused: isPaused = true
            case .resumed: isPaused = false
            default: break
            }
        }
    }

    func perform(_ call: ControlCall) throws(GantryError) -> JSONValue? {
        switch call.method {
        case "status": return status
        case "pause": session.pause(try media(of: call))
        case "resume": session.resume(try media(of: call))
        case "hide": session.setVideoHidden(try bool("hidden", of: call))
        case "prefer": try prefer(call)
        case "replay.arm": try session.replay.arm(try settings(of: call))
        case "replay.disarm": session.replay.disarm()
        case "replay.seek": return ["behind": Self.seconds(try seek(call))]
        case "replay.live": session.replay.goLive()
        case "replay.save": return try save(call)
        default:
            throw GantryError(
                .invalidArgument,
                "There is no such method. There are: status, pause, resume, hide, prefer, replay.arm, replay.disarm, "
                    + "replay.seek, replay.live, replay.save.")
        }
        return ["stopped": stopped]
    }

    func connectionEnded(_ connection: UInt64) {}

    // MARK: Status

    private var status: JSONValue {
        let (producer, address, state, isPaused) = lock.withLock {
            (self.producer, self.address, self.state, self.isPaused)
        }
        let now = session.statistics
        let wish = session.preferredPicture
        func number(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }
        return [
            "producer": .string(producer), "address": .optional(address), "state": .string(state),
            "process": .integer(Int64(getpid())), "version": .string(GantryVersion.text),
            "startedAt": .integer(startedAt),
            "seconds": .number((MonotonicClock.now() - startTime).seconds), "paused": .bool(isPaused),
            "stopped": stopped, "priority": .string(MediaPriority.way.rawValue),
            "preferred": [
                "width": number(wish.width), "height": number(wish.height),
                "fps": wish.frameRate.map { .number($0.framesPerSecond) } ?? .null,
                "bitrate": number(wish.maximumBitrate),
            ],
            "replay": replay, "width": number(now.width), "height": number(now.height),
            "qualityStep": number(now.qualityStep),
            "udpLossPercent": now.udp.expected > 0
                ? .number(100 * Double(now.udp.lost) / Double(now.udp.expected)) : .null,
            "framesReceived": number(now.framesReceived), "framesLost": number(now.framesLost),
            "audioPacketsReceived": number(now.audioPacketsReceived), "latencyMicroseconds": number(now.latency.p50),
        ]
    }

    private var replay: JSONValue {
        let status = session.replay.status
        return [
            "armed": .bool(status.isArmed), "held": .number(status.held.seconds),
            "bytes": .integer(Int64(status.bytes)), "behind": Self.seconds(status.behind),
            "overtakes": .integer(Int64(status.overtakes)),
        ]
    }

    private var stopped: JSONValue {
        let media = session.stoppedMedia
        return .array((media.contains(.video) ? ["video"] : []) + (media.contains(.audio) ? ["audio"] : []))
    }

    private static func seconds(_ duration: MediaDuration?) -> JSONValue {
        duration.map { .number($0.seconds) } ?? .null
    }

    // MARK: Replay

    private func settings(of call: ControlCall) throws(GantryError) -> ReplaySettings {
        var settings = ReplaySettings()
        if let duration = try duration("seconds", of: call) { settings.duration = duration }
        if let limit = call.parameters["bytes"] {
            guard let limit = limit.integer.flatMap({ Int(exactly: $0) }) else {
                throw Self.wrong("bytes", "a whole number")
            }
            settings.byteLimit = limit
        }
        return settings
    }

    private func seek(_ call: ControlCall) throws(GantryError) -> MediaDuration? {
        if let step = try duration("by", of: call) { return try session.replay.seek(by: step) }
        if let behind = try duration("to", of: call) { return try session.replay.seek(to: behind) }
        throw GantryError(
            .invalidArgument,
            "Say where to: \"by\", seconds from what is shown (below zero: back), or \"to\", seconds ago.")
    }

    private func save(_ call: ControlCall) throws(GantryError) -> JSONValue {
        guard let path = call.parameters["path"]?.string, path.hasPrefix("/") else {
            throw Self.wrong("path", "a whole path, as in /home/me/goal.mp4")
        }
        let saved = try session.replay.save(to: path, overwrite: call.parameters["overwrite"]?.bool ?? false)
        return [
            "paths": .array(saved.paths.map { .string($0) }), "seconds": .number(saved.duration.seconds),
            "frames": .integer(Int64(saved.frames)), "bytes": .integer(saved.bytes),
        ]
    }

    // MARK: Parameters

    private func media(of call: ControlCall) throws(GantryError) -> MediaSelection {
        guard let name = call.parameters["media"] else { return .all }
        switch name.string {
        case "all": return .all
        case "video": return .video
        case "audio": return .audio
        default: throw Self.wrong("media", "all, video or audio")
        }
    }

    private func prefer(_ call: ControlCall) throws(GantryError) {
        func number(_ name: String) throws(GantryError) -> Int? {
            guard let value = call.parameters[name] else { return nil }
            guard let number = value.integer.flatMap({ Int(exactly: $0) }) else {
                throw Self.wrong(name, "a whole number")
            }
            return number
        }
        var picture = PreferredPicture(
            width: try number("width"), height: try number("height"), maximumBitrate: try number("bitrate"))
        if let rate = call.parameters["fps"] {
            picture.frameRate =
                rate.string.flatMap { FrameRate(text: $0) } ?? rate.integer.flatMap { FrameRate(text: "\($0)") }
            guard picture.frameRate != nil else { throw Self.wrong("fps", "as in 15 or \"30000/1001\"") }
        }
        guard picture != PreferredPicture() else {
            throw GantryError(.invalidArgument, "Say what is preferred: width and height, fps, or bitrate.")
        }
        try session.prefer(picture)
    }

    private func bool(_ name: String, of call: ControlCall) throws(GantryError) -> Bool {
        guard let value = call.parameters[name]?.bool else { throw Self.wrong(name, "true or false") }
        return value
    }

    /// Seconds, with or without a point.
    private func duration(_ name: String, of call: ControlCall) throws(GantryError) -> MediaDuration? {
        guard let value = call.parameters[name] else { return nil }
        let seconds: Double? =
            switch value {
            case .integer(let number): Double(number)
            case .number(let number): number
            default: nil
            }
        guard let seconds, seconds.magnitude <= 3600 else { throw Self.wrong(name, "seconds, at most an hour") }
        return MediaDuration(microseconds: Int64((seconds * 1_000_000).rounded()))
    }

    private static func wrong(_ name: String, _ kind: String) -> GantryError {
        GantryError(.invalidArgument, "The parameter \"\(name)\" is missing or wrong. It is \(kind).")
    }
}
