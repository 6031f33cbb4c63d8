package import GantryCore
package import GantryPlatform

/// Takes decoded pictures. Called on the session's decoding thread, in order, never two at once: a call that takes
/// long delays the picture of all outputs.
public protocol VideoOutput: AnyObject, Sendable {
    func receive(_ frame: VideoFrame)
    /// No more will come from this session.
    func videoEnded()
}

/// Takes decoded sound. Called on the session's audio thread, in order.
public protocol AudioOutput: AnyObject, Sendable {
    func receive(_ frame: AudioFrame)
    func audioEnded()
}

/// Takes coded packets as they come from the wire, for recording and relaying. Called on the connection's I/O thread:
/// it must hand over and return.
package protocol PacketOutput: AnyObject, Sendable {
    /// Which streams will come; before any format.
    func expect(video: Bool, audio: Bool)
    func formatChanged(_ format: StreamFormat, epoch: UInt16)
    /// The packet is read only and may be held; its memory returns to the pool when it is let go.
    func receive(_ packet: MediaPacket)
    /// Finishes what can be finished; may block.
    func finish()
    /// Wants a key frame every two seconds, so that what it makes can be cut and sought.
    var wantsRegularKeyFrames: Bool { get }
}
