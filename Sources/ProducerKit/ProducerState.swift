public import GantryCore

/// Whether a producer runs, and who receives.
public enum ProducerState: Sendable, Equatable {
    /// Before `start()`, and after `stop()`.
    case notRunning
    /// Running; nobody receives.
    case notConnected
    /// Running; these studios receive.
    case active([ProducerPeer])
    /// Running, but nothing is sent until `ProducerController.resume()`; these studios wait.
    case paused([ProducerPeer])

    /// False for `notRunning` only.
    public var isRunning: Bool { self != .notRunning }

    /// The studios that are connected, by name; empty when there are none.
    public var connections: [ProducerPeer] {
        switch self {
        case .notRunning, .notConnected: []
        case .active(let peers), .paused(let peers): peers
        }
    }
}

/// A studio that is connected, or asks to be. A value.
public struct ProducerPeer: Sendable, Hashable {
    /// Who it is: TLS has proved that it has this key.
    public let keyID: KeyID
    /// The name of the paired device; safe to print.
    public let name: String
    /// HOST:PORT on a network, "usb" on a cable; for people.
    public let address: String
    /// The way it has come.
    public let transport: ConnectionTransport

    /// The whole key as text, base 32: what to compare with the studio's own, letter by letter.
    public var fingerprint: String { keyID.description }
}

extension ProducerState: CustomStringConvertible {
    /// For logs: "not running", "active: Studio A (192.168.1.5:50124)".
    public var description: String {
        let peers = connections.map(\.description).joined(separator: ", ")
        return switch self {
        case .notRunning: "not running"
        case .notConnected: "not connected"
        case .active: "active: \(peers)"
        case .paused: peers.isEmpty ? "paused" : "paused: \(peers)"
        }
    }
}

extension ProducerPeer: CustomStringConvertible {
    /// For logs: name and address, as in "Studio A (192.168.1.5:50124)".
    public var description: String { "\(name) (\(address))" }
}

/// The way on which a studio reaches a producer.
public enum ConnectionTransport: String, Sendable, CaseIterable {
    /// TCP, wired or wireless; pictures may go over UDP beside it.
    case network
    /// A USB cable.
    case usb
}

/// What happens to a producer, in order.
public enum ProducerEvent: Sendable {
    /// Studios can connect from now on, at this TCP port.
    case started(port: UInt16)
    /// Studios find the producer by this name, which is safe to print; another one than was wished for after a conflict.
    case advertised(name: String)
    /// Studios cannot find the producer, only dial its address. Told once for each outage; it goes on by itself.
    case discoveryUnavailable(GantryError)
    /// A studio receives from now on.
    case connected(ProducerPeer)
    /// A connection ended; the error is nil after a goodbye.
    case disconnected(ProducerPeer, GantryError?)
    /// Someone who is not paired, not compatible, or not wanted by the delegate, was turned away.
    case refused(address: String, GantryError)
    /// The USB cable, with `ProducerConfiguration.usb`: at the start, and whenever it changes.
    case usb(USBState)
    /// A studio on the USB cable that is not paired asks to be let in: see `ProducerController.answer`.
    case studioAsks(StudioRequest)
    /// The question has been answered, or the studio has gone.
    case requestEnded(StudioRequest)
    /// Encoding began, or goes on with another size; without a bitrate the device itself encodes.
    case videoFormat(width: Int, height: Int, bitrate: Int?)
    /// Nothing is sent from now on; see `ProducerController.pause()`.
    case paused
    /// Media go on, with a key frame.
    case resumed
    /// Studios want pictures, or sound, or no longer do: whoever feeds the producer from a device may open or close that. The
    /// number is `ProducerController.audioSamplesRequired`.
    case demandChanged(video: Bool, audioSamples: Int)
    /// The producer offers a picture, or sound, again: `ProducerController.beginStream`.
    case streamBegan(MediaKind)
    /// It offers none from now on: `ProducerController.endStream`.
    case streamEnded(MediaKind)
    /// Encoding failed for good; sound goes on.
    case failed(GantryError)
    /// `ProducerController.stop()` has ended all sessions.
    case stopped
}
