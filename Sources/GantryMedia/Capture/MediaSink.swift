package import GantryCore

/// Where a source puts what it makes. Called from the source's own threads; nothing that is passed may be written to
/// afterwards.
package protocol MediaSink: AnyObject, Sendable {
    func video(_ picture: Picture)
    /// Called from the same thread as `video`.
    func audio(_ block: AudioBlock)
    /// Before `video`, by sources that can wait (files): true when a picture can be taken without displacing another.
    /// Returns at `deadline` at the latest.
    func waitForRoom(until deadline: MediaTimestamp) -> Bool
}
