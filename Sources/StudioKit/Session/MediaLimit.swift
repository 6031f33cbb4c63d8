import GantryCore

/// Lets packets through until a given length of media has come, by the producer's stamps. A plain value; I/O thread.
///
/// Time 0 is the first packet of the leading stream: picture where there is one, else sound. What comes before it is let
/// through: a recording leaves it out by itself. A pause of all that comes does not count.
struct MediaLimit {
    /// How far one stream may be past the end before the other one is no longer waited for.
    private static let patience = MediaDuration.milliseconds(300)

    private let limit: MediaDuration
    private let leadsByVideo: Bool
    private var missing: (video: Bool, audio: Bool)
    private var timeline = MediaTimeline()
    private var hasBegun = false
    /// Every stream has reached the end.
    private(set) var isReached = false

    init(_ limit: MediaDuration, video: Bool, audio: Bool) {
        self.limit = limit
        leadsByVideo = video
        missing = (video, audio)
    }

    /// The next step of the stamps may be a pause.
    mutating func paused() { timeline.paused() }

    /// Whether the packet lies before the end.
    mutating func admits(_ header: MediaHeader, isVideo: Bool) -> Bool {
        if !hasBegun {
            guard isVideo == leadsByVideo else { return true }
            hasBegun = true
        }
        let position = MediaDuration(microseconds: timeline.place(header.presentationTime.microseconds))
        guard position >= limit else { return true }
        if isVideo { missing.video = false } else { missing.audio = false }
        isReached = (!missing.video && !missing.audio) || position >= limit + Self.patience
        return false
    }
}
