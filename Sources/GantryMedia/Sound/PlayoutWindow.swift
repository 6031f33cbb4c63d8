import GantryCore

/// Means over a second of playing: a device tells its delay in steps of some milliseconds.
struct PlayoutWindow {
    struct Means {
        var offset: MediaDuration
        /// Samples of each channel.
        var largestDelay: Int
        var elapsed: MediaDuration
    }

    private static let span = MediaDuration.seconds(1)
    private var first: (offset: MediaDuration, time: MediaTimestamp)?
    private var sum: Int64 = 0
    private var largestDelay = 0
    private var count: Int64 = 0

    mutating func add(offset: MediaDuration, delay: Int, now: MediaTimestamp) {
        if first == nil { first = (offset, now) }
        guard let first else { return }
        // Sums of differences: the offset itself is that of two unrelated clocks.
        sum &+= (offset - first.offset).microseconds
        largestDelay = max(largestDelay, delay)
        count += 1
    }

    /// Nil until a second has passed.
    func means(now: MediaTimestamp) -> Means? {
        guard let first, count > 0, now - first.time >= Self.span else { return nil }
        return Means(
            offset: first.offset + MediaDuration(microseconds: sum / count), largestDelay: largestDelay,
            elapsed: now - first.time)
    }
}
