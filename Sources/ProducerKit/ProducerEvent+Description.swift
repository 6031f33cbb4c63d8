import GantryCore

extension ProducerEvent: CustomStringConvertible {
    /// For logs, in one line: "connected: Studio A (192.168.1.5:50124)", "video format: 1280x720, 6000 kbit/s", "stopped".
    public var description: String {
        switch self {
        case .started(let port): "started: port \(port)"
        case .advertised(let name): "advertised: \(name)"
        case .discoveryUnavailable(let error): "discovery unavailable: \(error.message)"
        case .connected(let peer): "connected: \(peer)"
        case .disconnected(let peer, let error): "disconnected: \(peer)" + (error.map { ": \($0.message)" } ?? "")
        case .refused(let address, let error): "refused: \(address): \(error.message)"
        case .usb(let state): "usb: \(state)"
        case .studioAsks(let request): "studio asks: \(request.name)"
        case .requestEnded(let request): "request ended: \(request.name)"
        case .videoFormat(let width, let height, let bitrate):
            "video format: \(width)x\(height)" + (bitrate.map { ", \($0 / 1000) kbit/s" } ?? "")
        case .paused: "paused"
        case .resumed: "resumed"
        case .demandChanged(let video, let samples): "demand: \(video ? "picture" : "no picture"), \(samples) samples"
        case .streamBegan(let kind): "stream began: \(kind)"
        case .streamEnded(let kind): "stream ended: \(kind)"
        case .failed(let error): "failed: \(error.message)"
        case .stopped: "stopped"
        }
    }
}
