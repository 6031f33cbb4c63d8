/// Tells a link that loses packets at random from one that lost some once: retransmissions in three of the last five seconds.
/// A plain value; allocates nothing.
package struct LossWatch: Sendable {
    private static let span: Int64 = 1_000_000
    /// Bit n: something was sent again n seconds ago.
    private var seconds: UInt8 = 0
    private var spanStart: MediaTimestamp?
    private var last: UInt32 = 0

    package init() {}

    /// - Parameter retransmitted: packets that were sent again, since the beginning.
    /// - Returns: whether the link loses packets.
    package mutating func add(retransmitted: UInt32, now: MediaTimestamp) -> Bool {
        let start = spanStart ?? now
        let passed = max(0, (now - start).microseconds / Self.span)
        seconds = passed >= 8 ? 0 : seconds << UInt8(passed)
        spanStart = start + MediaDuration(microseconds: passed * Self.span)
        if retransmitted != last { seconds |= 1 }
        last = retransmitted
        return (seconds & 0b11111).nonzeroBitCount >= 3
    }
}
