public import GantryCore

/// What `Replay.save` has written.
public struct SavedReplay: Hashable, Sendable {
    /// The files: NAME.mp4, and NAME-2.mp4 … where the picture has changed its size meanwhile.
    public let paths: [String]
    public let duration: MediaDuration
    /// Pictures.
    public let frames: Int
    public let bytes: Int64
}
