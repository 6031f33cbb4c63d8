/// How fast bytes reach the other end, from a count that is told now and then. Owned by one thread; allocates nothing.
package struct DeliveredRate: Sendable {
    private struct Sample {
        var time: Int64 = 0
        var total: UInt64 = 0
    }

    /// 1.6 s at one sample each 50 ms.
    private var ring = InlineArray<32, Sample>(repeating: Sample())
    private var next = 0
    private var filled = 0
    /// Samples closer than this are one.
    private static let closest: Int64 = 10_000
    /// More than any link brings in the time between two samples: 1 GB.
    private static let largestStep: UInt64 = 1 << 30

    package init() {}

    /// - Parameter total: bytes since the beginning. A count that falls or leaps begins anew.
    package mutating func add(total: UInt64, at time: MediaTimestamp) {
        if filled > 0 {
            let last = ring[(next + ring.count - 1) % ring.count]
            let gap = time.microseconds &- last.time
            if total < last.total || total - last.total > Self.largestStep || gap < 0 {
                filled = 0
            } else if gap < Self.closest {
                return
            }
        }
        ring[next] = Sample(time: time.microseconds, total: total)
        next = (next + 1) % ring.count
        filled = min(filled + 1, ring.count)
    }

    /// Bits a second over about the last `span`, up to the newest sample; nil before there are so many.
    package func rate(over span: MediaDuration) -> Int? {
        guard filled >= 2 else { return nil }
        let newest = ring[(next + ring.count - 1) % ring.count]
        for age in 2...ring.count where age <= filled {
            let sample = ring[(next + ring.count - age) % ring.count]
            let gap = newest.time - sample.time
            guard gap >= span.microseconds else { continue }
            return Int(clamping: (newest.total - sample.total) * 8_000_000 / UInt64(max(gap, 1)))
        }
        return nil
    }
}
