package import GantryCore
package import GantryPlatform

/// What both kinds of outputs say.
public protocol MediaOutput: AnyObject, Sendable {
    /// While a replay is shown it gets that; otherwise it gets what is live, whatever is shown. Must not change.
    var followsReplay: Bool { get }
}

extension MediaOutput {
    public var followsReplay: Bool { true }
}

/// Takes decoded pictures. Called on the session's decoding thread, or that of its replay, in order, never two at once: a
/// call that takes long delays the picture of all outputs. A replay's pictures have their own stamps: time jumps back when
/// it begins, and forth at its end.
public protocol VideoOutput: MediaOutput {
    func receive(_ frame: VideoFrame)
    /// The connection has ended; the session tries to make another one. On the session's thread.
    func videoInterrupted()
    /// No more will come from this session, if anything has. On the session's thread; may block.
    func videoEnded()
}

extension VideoOutput {
    public func videoInterrupted() {}
}

/// Takes decoded sound. Called on the session's audio thread, or that of its replay, in order, never two at once.
public protocol AudioOutput: MediaOutput {
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
