/// Spreads the packets of a large unit, so that no queue on the way has to hold all of it at once: a token bucket. Pure.
package struct Pacer: Sendable {
    /// Bytes that go at once: what a switch port's queue certainly holds.
    private static let burst = 24_000.0
    /// Bytes a second after that: 100 Mbit/s. How much the link takes is left to the bitrate.
    private static let bytesPerSecond = 12_500_000.0

    private var tokens = burst
    private var last: MediaTimestamp?

    package init() {}

    /// Whether `count` bytes may go now; if so, they are taken off.
    package mutating func takes(_ count: Int, now: MediaTimestamp) -> Bool {
        if let last {
            tokens = min(Self.burst, tokens + max(0, (now - last).seconds) * Self.bytesPerSecond)
        }
        last = now
        guard tokens > 0 else { return false }
        tokens -= Double(count)
        return true
    }

    /// When the next packet may go.
    package var nextTime: MediaTimestamp? {
        guard let last, tokens <= 0 else { return nil }
        return last + MediaDuration(microseconds: Int64(-tokens / Self.bytesPerSecond * 1e6) + 50)
    }
}
