import GantryCore

/// Lets packets through until a given length of media has come, by the producer's stamps. A plain value; I/O thread.
///
/// Time 0 is the first packet of the leading stream: picture where there is one, else sound. What comes before it is let
/// through: a recording leaves it out by itself.
struct MediaLimit {
    /// How far one stream may be past the end before the other one is no longer waited for.
    private static let patience = MediaDuration.milliseconds(300)

    private let limit: MediaDuration
    private let leadsByVideo: Bool
    private var missing: (video: Bool, audio: Bool)
    private var first: MediaTimestamp?
    /// Every stream has reached the end.
    private(set) var isReached = false

    init(_ limit: MediaDuration, video: Bool, audio: Bool) {
        self.limit = limit
        leadsByVideo = video
        missing = (video, audio)
    }

    /// Whether the packet lies before the end.
    mutating func admits(_ header: MediaHeader, isVideo: Bool) -> Bool {
        if first == nil && isVideo == leadsByVideo { first = header.presentationTime }
        guard let first else { return true }
        let position = header.presentationTime - first
        guard position >= limit else { return true }
        if isVideo { missing.video = false } else { missing.audio = false }
        isReached = (!missing.video && !missing.audio) || position >= limit + Self.patience
        return false
    }
}
