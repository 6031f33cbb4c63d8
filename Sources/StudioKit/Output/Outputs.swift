public import GantryCore

/// What all kinds of outputs say. An output belongs to the application: a session calls it from `StudioSession.start` to its
/// end, and holds it meanwhile.
///
/// It may call the session, also `StudioSession.close`, but not `waitUntilEnded`: the session waits for its outputs.
public protocol StudioOutput: AnyObject, Sendable {
    /// Each call returns within a millisecond, since the output hands over to a thread of its own: it is called directly on the
    /// thread where things are made. Must not change.
    ///
    /// False unless it says otherwise: the session gives it a thread of its own, so that one that is slow, or blocks, holds up
    /// nobody. What it is too slow for is left out: of pictures the newest two wait for it, of sound the newest 24 blocks,
    /// of packets 300 (32 MiB at most), and after a hole the next key frame comes first.
    var returnsAtOnce: Bool { get }
}

extension StudioOutput {
    public var returnsAtOnce: Bool { false }
}

/// What the outputs of decoded media say.
public protocol MediaOutput: StudioOutput {
    /// While a replay is shown it gets that; otherwise it gets what is live, whatever is shown. Must not change. True
    /// unless it says otherwise.
    var followsReplay: Bool { get }
}

extension MediaOutput {
    public var followsReplay: Bool { true }
}

/// Takes decoded pictures, in order, never two at once. A replay's pictures have their own stamps: time jumps back when it
/// begins, and forth at its end.
///
/// Thread: "video-output", one for each output; of one that `returnsAtOnce` the decoding thread or that of the replay, and for
/// the last two methods the session's.
public protocol VideoOutput: MediaOutput {
    /// One picture. What it needs for longer than a moment it copies.
    func receive(_ frame: VideoFrame)
    /// The connection has ended; the session tries to make another one.
    func videoInterrupted()
    /// No more will come from this session, if anything has. May block: the session's end waits for it and for what the output
    /// still has to take, five seconds at most for all outputs together that have a thread from the session.
    func videoEnded()
}

extension VideoOutput {
    public func videoInterrupted() {}
    public func videoEnded() {}
}

/// Takes decoded sound, in order, never two at once; otherwise as `VideoOutput`. Thread: "audio-output".
public protocol AudioOutput: MediaOutput {
    /// Some milliseconds of sound. What it needs for longer than a moment it copies.
    func receive(_ frame: AudioFrame)
    /// As `VideoOutput.videoInterrupted`.
    func audioInterrupted()
    /// As `VideoOutput.videoEnded`.
    func audioEnded()
}

extension AudioOutput {
    public func audioInterrupted() {}
    public func audioEnded() {}
}

/// Takes coded packets as they come from the wire, for recording and relaying, in order, never two calls at once.
///
/// Thread: "packet-output", one for each output; of one that `returnsAtOnce` one or the other thread of the connection, which it
/// holds up until it returns, and for `finish` the session's.
public protocol PacketOutput: StudioOutput {
    /// Which streams will come; before any format, and again for each connection of the session.
    func expect(video: Bool, audio: Bool)
    /// What the packets of that epoch are; before the first of them.
    func formatChanged(_ format: StreamFormat, epoch: UInt16)
    /// One packet.
    func receive(_ packet: CodedPacket)
    /// Nothing more will come. Finishes what can be finished; may block, as `VideoOutput.videoEnded`.
    func finish()
    /// Wants a key frame every two seconds, so that what it makes can be cut and sought. False unless it says otherwise.
    var wantsRegularKeyFrames: Bool { get }
    /// Can go on with a key frame alone: the producer is asked for one soon. Looked at about every second while it holds, from any
    /// thread. False unless it says otherwise.
    var awaitsKeyFrame: Bool { get }
}

extension PacketOutput {
    public func finish() {}
    public var wantsRegularKeyFrames: Bool { false }
    public var awaitsKeyFrame: Bool { false }
}
