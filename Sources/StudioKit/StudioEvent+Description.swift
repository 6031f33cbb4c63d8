import GantryCore

extension StudioEvent: CustomStringConvertible {
    /// For logs, in one line: "connected: Camera (192.168.1.5:7787)", "format: 1280x720 at 30 fps", "ended".
    public var description: String {
        switch self {
        case .connecting(let name): "connecting: \(name)"
        case .discoveryUnavailable(let error): "discovery unavailable: \(error.message)"
        case .connected(let name, let address, _): "connected: \(name) (\(address))"
        case .streams(let change): "streams: \(change)"
        case .playbackStopped(let stream): "playback stopped: \(stream)"
        case .player(let state): "player: \(state)"
        case .paired(let name): "paired: \(name)"
        case .format(.video(let format)): "format: \(format.width)x\(format.height) at \(format.frameRate) fps"
        case .format(.audio(let format)): "format: \(format.codec), \(format.sampleRate) Hz"
        case .firstFrame(let microseconds): "first frame after \(microseconds / 1000) ms"
        case .rate(let rate): "rate: \(rate.bitrate / 1000) kbit/s, step \(rate.step)"
        case .videoState(let status): "video: \(status.state) (\(status.reason))"
        case .paused: "paused"
        case .resumed: "resumed"
        case .stoppedHere(let media): "stopped here: \(media)"
        case .replay(let behind): behind.map { "replay: \($0.microseconds / 1000) ms behind" } ?? "live again"
        case .decodingFailed(let error): "decoding failed: \(error.message)"
        case .disconnected(let error): "disconnected" + (error.map { ": \($0.message)" } ?? "")
        case .ended(let error): "ended" + (error.map { ": \($0.message)" } ?? "")
        }
    }
}

extension MediaSelection: CustomStringConvertible {
    /// For logs: "picture", "sound", "picture, sound"; "none" for none.
    public var description: String {
        let names: [(MediaSelection, String)] = [(.video, "picture"), (.audio, "sound")]
        let set = names.filter { contains($0.0) }.map(\.1)
        return set.isEmpty ? "none" : set.joined(separator: ", ")
    }
}
