package import GantryCore
package import GantryPlatform

/// Takes decoded pictures. Called on the session's decoding thread, in order, never two at once: a call that takes
/// long delays the picture of all outputs.
public protocol VideoOutput: AnyObject, Sendable {
    func receive(_ frame: VideoFrame)
    /// The connection has ended; the session tries to make another one. On the session's thread.
    func videoInterrupted()
    /// No more will come from this session, if anything has. On the session's thread; may block.
    func videoEnded()
}

extension VideoOutput {
    public func videoInterrupted() {}
}

/// Takes decoded sound. Called on the session's audio thread, in order.
public protocol AudioOutput: AnyObject, Sendable {
    func receive(_ frame: AudioFrame)
    /// As `VideoOutput.videoInterrupted`.
    func audioInterrupted()
    func audioEnded()
}

extension AudioOutput {
    public func audioInterrupted() {}
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
