import GantryCore

/// When a virtual camera writes without anything new, and when it goes over to the card.
///
/// A value without a clock of its own; owned by the camera's thread.
struct VirtualCameraTiming {
    enum Shown { case card, picture }

    private(set) var shown = Shown.card
    private var newest = MediaTimestamp(microseconds: 0)
    private var written: MediaTimestamp
    private var patience = Self.stall

    /// What is shown is repeated so often: who begins to read sees something at once, and no reader takes the camera for
    /// dead (Chromium gives up on one that is silent for a second).
    static let interval = MediaDuration.milliseconds(200)
    /// After so long without a picture there is no signal.
    static let stall = MediaDuration.seconds(1)
    /// A gap that is longer is no slow stream but an interruption.
    private static let slowest = MediaDuration.seconds(5)

    init(now: MediaTimestamp) { written = now }

    /// A picture has come. A stream that is slow by nature (a picture in two seconds) gets three of its own gaps.
    mutating func pictureCame(_ now: MediaTimestamp) {
        let gap = now - newest
        patience = gap > Self.slowest ? Self.stall : max(Self.stall, .microseconds(gap.microseconds * 3))
        newest = now
        shown = .picture
    }

    mutating func cardIsWanted() {
        shown = .card
        // The next picture begins a new stream.
        newest = MediaTimestamp(microseconds: 0)
        patience = Self.stall
    }

    /// Goes over to the card when no picture has come for too long.
    mutating func timePassed(_ now: MediaTimestamp) {
        if shown == .picture, now - newest >= patience { shown = .card }
    }

    mutating func wrote(_ now: MediaTimestamp) { written = now }

    /// When to write next if nothing new comes.
    var due: MediaTimestamp {
        let next = written + Self.interval
        return shown == .picture ? min(next, newest + patience) : next
    }
}
