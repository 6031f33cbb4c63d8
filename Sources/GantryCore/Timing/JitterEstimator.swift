/// Interarrival jitter by RFC 3550 section 6.4.1 and appendix A.8, in µs instead of RTP units.
///
/// `J += (|D| − J) / 16`, where D is how much the spacing of two packets changed on the way. Integer form of the
/// appendix: the estimate is kept 16-fold. Owned by one thread.
package struct JitterEstimator: Sendable {
    private var scaled: Int64 = 0
    private var lastTransit: Int64?
    /// A change beyond this is a jump of a clock or a pause, not jitter: 10 s.
    private static let largestChange: Int64 = 10_000_000

    package init() {}

    package var jitter: MediaDuration { MediaDuration(microseconds: scaled >> 4) }

    /// `sent` on the sender's clock, `arrived` on ours; their offset cancels out.
    package mutating func add(sent: MediaTimestamp, arrived: MediaTimestamp) {
        let transit = arrived.microseconds &- sent.microseconds
        defer { lastTransit = transit }
        guard let lastTransit else { return }
        let change = transit &- lastTransit
        guard -Self.largestChange...Self.largestChange ~= change else { return }
        scaled += abs(change) - ((scaled + 8) >> 4)
    }
}
