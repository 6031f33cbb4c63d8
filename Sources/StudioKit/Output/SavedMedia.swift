public import GantryCore
import GantryMedia

/// What a `RecordingOutput` or `Replay.save` has written.
public struct SavedMedia: Hashable, Sendable {
    /// The files: NAME.mp4, and NAME-2.mp4 … where the picture has changed its size meanwhile.
    public let paths: [String]
    /// From the first packet to the end of the last, over all files.
    public let duration: MediaDuration
    /// Pictures.
    public let frames: Int
    /// Over all files.
    public let bytes: Int64

    init(_ summary: RecordingSummary) {
        paths = summary.paths
        duration = summary.duration
        frames = summary.frames
        bytes = summary.bytes
    }
}
