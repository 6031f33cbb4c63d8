/// What became of a camera's pictures.
package struct CameraStatistics: Sendable, Hashable {
    /// That came out.
    package var delivered = 0
    /// That the driver marked as damaged, that were too short, or not what they said they were.
    package var damaged = 0
    /// For which all pooled ones were in use.
    package var dropped = 0
    /// Older than another one that was there already.
    package var skipped = 0
    /// That the driver says it has lost.
    package var lost = 0
    /// Pictures a second over the last seconds, those that did not come out included; nil when not known yet.
    package var measuredRate: Double?

    package init() {}

    /// The counts of both, and the rate of the second where it has one.
    package static func + (a: Self, b: Self) -> Self {
        var sum = b
        sum.delivered &+= a.delivered
        sum.damaged &+= a.damaged
        sum.dropped &+= a.dropped
        sum.skipped &+= a.skipped
        sum.lost &+= a.lost
        sum.measuredRate = b.measuredRate ?? a.measuredRate
        return sum
    }
}
