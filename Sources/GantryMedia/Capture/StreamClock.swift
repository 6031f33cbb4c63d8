import GantryCore

/// Turns the stamps of one stream into microseconds since the beginning of the file, and mends what damaged files do
/// with them: stamps that are missing, jump back, or jump further ahead than anyone would wait. Pure.
struct StreamClock {
    /// A longer jump ahead is damage, not a pause.
    static let longestPause = MediaDuration.seconds(60)
    /// Further back than that is damage, not reordering or rounding.
    static let longestStepBack = MediaDuration.seconds(1)

    /// Where the next frame is expected: the end of the last one. Nil before the first.
    private(set) var expected: MediaDuration?
    /// The last stamp that went out.
    private var last: MediaDuration?
    /// What is added to each stamp, after a jump.
    private var shift = MediaDuration.zero

    /// - Parameters:
    ///   - stamp: Microseconds since the file's first stamp; nil when the frame has none.
    ///   - duration: How long the frame lasts, as far as known.
    mutating func time(of stamp: MediaDuration?, duration: MediaDuration) -> MediaDuration {
        guard let expected, let last else {
            let time = max(.zero, stamp ?? .zero)
            (self.last, self.expected) = (time, time + duration)
            // A first stamp that far away is damage as well.
            guard time > Self.longestPause else { return time }
            shift = .zero - time
            (self.last, self.expected) = (.zero, duration)
            return .zero
        }
        var time = stamp.map { $0 + shift } ?? expected
        if time > last + Self.longestPause || time + Self.longestStepBack < last {
            if let stamp { shift = expected - stamp }
            time = expected
        }
        self.last = time
        self.expected = time + duration
        return time
    }

    /// For the next time through the file.
    mutating func restart() { self = StreamClock() }
}
