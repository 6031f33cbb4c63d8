package import GantryCore

/// What a recording holds in the end.
package struct RecordingSummary: Sendable, Equatable {
    /// From the first to the end of the last packet, over all files.
    package var duration = MediaDuration.zero
    /// Video frames.
    package var frames = 0
    /// Over all files.
    package var bytes: Int64 = 0
    /// The files in order: NAME.mp4, NAME-2.mp4, …
    package var paths: [String] = []
}
