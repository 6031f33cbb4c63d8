public import GantryCore

/// Hears what happens in a session, as an alternative to `StudioSession.events`. Every method does nothing unless it is
/// written.
///
/// Thread: "studio-delegate", one for each session, one call at a time, in order. It may block (the newest 64 events wait, and
/// the session goes on), and may call any method of the session, also `close` and `waitUntilEnded`.
public protocol StudioSessionDelegate: AnyObject, Sendable {
    /// Each event, before the method that is for it.
    func session(_ session: StudioSession, didReceive event: StudioEvent)
    /// The producer has let us in for the first time; `StudioSession.streams` is what it offers.
    func sessionDidConnect(_ session: StudioSession)
    /// The connection has ended, and the session makes another one. Nil: the producer said goodbye.
    func sessionDidDisconnect(_ session: StudioSession, error: GantryError?)
    /// There is a connection again.
    func sessionDidReconnect(_ session: StudioSession)
    /// Closed in order, by either side. The last call.
    func sessionDidEnd(_ session: StudioSession)
    /// Ended because of `error`, whose description says what mends it. The last call.
    func session(_ session: StudioSession, didFail error: GantryError)
    /// Streams were created or destroyed, or have another format.
    func session(_ session: StudioSession, streamsDidChange change: StreamChange)
    /// The stream that was received has gone: playback has stopped by itself.
    func session(_ session: StudioSession, playbackDidStop stream: StreamInfo)
    /// It plays, waits for media, is paused, hidden, and so on.
    func session(_ session: StudioSession, playerDidChange state: PlayerState)
    /// The picture is in danger, gone, or back, and why; sound goes on.
    func session(_ session: StudioSession, videoDidChange status: VideoStatus)
    /// A decoder has failed for good; the rest goes on.
    func session(_ session: StudioSession, decodingDidFail error: GantryError)
}

extension StudioSessionDelegate {
    public func session(_ session: StudioSession, didReceive event: StudioEvent) {}
    public func sessionDidConnect(_ session: StudioSession) {}
    public func sessionDidDisconnect(_ session: StudioSession, error: GantryError?) {}
    public func sessionDidReconnect(_ session: StudioSession) {}
    public func sessionDidEnd(_ session: StudioSession) {}
    public func session(_ session: StudioSession, didFail error: GantryError) {}
    public func session(_ session: StudioSession, streamsDidChange change: StreamChange) {}
    public func session(_ session: StudioSession, playbackDidStop stream: StreamInfo) {}
    public func session(_ session: StudioSession, playerDidChange state: PlayerState) {}
    public func session(_ session: StudioSession, videoDidChange status: VideoStatus) {}
    public func session(_ session: StudioSession, decodingDidFail error: GantryError) {}
}
