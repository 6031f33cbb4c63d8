/// Tells a queue, which shrinks when far less is sent than the link took, from a way that has become longer, which does not. A
/// plain value of `RateController`.
struct StandingDelay: Sendable {
    private static let span = MediaDuration.milliseconds(300)
    /// Jitter of a way without a queue, and the difference between pictures' own bits.
    private static let flat = MediaDuration.milliseconds(5)
    /// Less does not hinder the rate.
    private static let noise = MediaDuration.milliseconds(8)

    private var spanStart: MediaTimestamp?
    var isWatching: Bool { spanStart != nil }
    /// Of the span of now and of the one before; nil before there is one.
    private var smallest = MediaDuration.seconds(10)
    private var previous: MediaDuration?

    /// Takes how long the newest packet waited.
    ///
    /// - Parameter isSparse: far less is sent than the link took when it was full: a queue of ours would shrink.
    /// - Returns: true when the delay has stayed as it is over two spans.
    mutating func add(_ delay: MediaDuration, isSparse: Bool, now: MediaTimestamp) -> Bool {
        guard isSparse, delay > Self.noise else {
            self = StandingDelay()
            return false
        }
        guard let start = spanStart else {
            begin(now, delay)
            return false
        }
        smallest = min(smallest, delay)
        guard now - start >= Self.span else { return false }
        if let previous, MediaDuration.zero - Self.flat...Self.flat ~= smallest - previous {
            self = StandingDelay()
            return true
        }
        previous = smallest
        begin(now, .seconds(10))
        return false
    }

    private mutating func begin(_ now: MediaTimestamp, _ delay: MediaDuration) {
        spanStart = now
        smallest = delay
    }
}
