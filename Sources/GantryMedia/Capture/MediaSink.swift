package import GantryCore
package import GantryPlatform

/// Where a source puts what it makes. Called from the source's own threads; nothing that is passed may be written to
/// afterwards.
package protocol MediaSink: AnyObject, Sendable {
    func video(_ picture: Picture)
    /// A picture that a device has coded itself, to be passed on as it is: an access unit of H.264 in Annex B form, or a
    /// JPEG picture, with its stamps, `isKey`, and a sequence number that counts each (a gap is a loss).
    ///
    /// - Returns: true when a key frame is wanted: a source whose device can make one asks for it.
    func coded(_ packet: MediaPacket) -> Bool
    /// Called from any one thread, which need not be that of `video`.
    func audio(_ block: AudioBlock)
    /// The sound has gone while pictures go on (its device was unplugged, or it has ended), or is back. As `audio`.
    func soundChanged(isThere: Bool)
    /// Before `video`, by sources that can wait (files): true when a picture can be taken without displacing another.
    /// Returns at `deadline` at the latest.
    func waitForRoom(until deadline: MediaTimestamp) -> Bool
    /// Whether somebody receives pictures. Sources that are devices let go of them a second after nobody does, and take them
    /// again when somebody comes. Any thread.
    var wantsVideo: Bool { get }
    /// The same for sound.
    var wantsAudio: Bool { get }
}

extension MediaSink {
    /// For sinks whose sources never deliver coded pictures.
    package func coded(_ packet: MediaPacket) -> Bool { false }
    package func soundChanged(isThere: Bool) {}
    package var wantsVideo: Bool { true }
    package var wantsAudio: Bool { true }
}
