/// How long packets wait in queues on their way: the one-way delay minus the smallest of the last ten seconds.
///
/// The two clocks need not agree: their offset is in both and cancels out. 100 ppm of drift make 1 ms in ten seconds, and
/// the minimum follows. A longer way (another route) looks like a queue at first; once `rebase` has been called, or the
/// shorter delays are ten seconds old, it is the new base. Owned by one thread; allocates nothing.
package struct QueueDelay: Sendable {
    private var minimum = WindowedMinimum()
    /// The newest delays, for `rebase`.
    private var recent = InlineArray<8, Int64>(repeating: .max)
    private var recentIndex = 0
    /// Delays beyond ± a day are not believed.
    private static let largest: Int64 = 86_400_000_000

    package init() {}

    /// Takes a one-way delay (of any offset) that was told at `now`, and returns how much of it was waiting; nil for an
    /// absurd one.
    package mutating func add(_ delay: MediaDuration, now: MediaTimestamp) -> MediaDuration? {
        guard delay.microseconds.magnitude <= Self.largest.magnitude else { return nil }
        let base = minimum.add(delay.microseconds, now: now)
        recent[recentIndex] = delay.microseconds
        recentIndex = (recentIndex + 1) % recent.count
        return MediaDuration(microseconds: delay.microseconds - base)
    }

    /// What has not changed for a while though less is sent is no queue: the delays of late are the new base.
    package mutating func rebase() {
        var smallest = Int64.max
        for index in recent.indices { smallest = min(smallest, recent[index]) }
        if smallest != .max { minimum.restart(at: smallest) }
    }
}
