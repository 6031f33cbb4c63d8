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
}

/// A studio that is connected.
public struct ProducerPeer: Sendable, Equatable {
    public let keyID: KeyID
    /// Safe to print.
    public let name: String
    public let address: String
}

/// What happens to a producer, in order.
public enum ProducerEvent: Sendable {
    case started(port: UInt16)
    /// Studios find the producer by this name, which is safe to print; another one than was wished for after a conflict.
    case advertised(name: String)
    /// Studios cannot find the producer, only dial its address. Told once for each outage; it goes on by itself.
    case discoveryUnavailable(GantryError)
    case connected(ProducerPeer)
    /// A connection ended; the error is nil after a goodbye.
    case disconnected(ProducerPeer, GantryError?)
    /// Someone who is not paired, or not compatible, was turned away.
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
    /// Encoding failed for good; sound goes on.
    case failed(GantryError)
    case stopped
}
