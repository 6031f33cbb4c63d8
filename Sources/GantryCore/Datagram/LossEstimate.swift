/// The part of packets that the path loses, from the receiver's reports: up at once, down slowly. Pure.
package struct LossEstimate: Sendable {
    /// Mean lifetime of what was seen.
    private static let memory = 3.0
    /// Without any loss for so long there is none.
    private static let forgotten = MediaDuration.seconds(15)
    private static let least = 0.005

    private var sent = 0.0
    private var lost = 0.0
    private var lastReport: MediaTimestamp?
    private var lastLoss: MediaTimestamp?

    package init() {}

    /// - Parameters:
    ///   - expected: packets whose fate has become known since the report before.
    ///   - missing: those of them that did not come at first.
    package mutating func reported(expected: Int, missing: Int, now: MediaTimestamp) {
        guard expected >= 0, missing >= 0, expected < 1 << 20 else { return }
        if let lastReport {
            let age = min(max((now - lastReport).seconds, 0), 10)
            let kept = 1 / (1 + age / Self.memory)
            sent *= kept
            lost *= kept
        }
        lastReport = now
        sent += Double(expected)
        lost += Double(min(missing, expected))
        if missing > 0 { lastLoss = now }
    }

    /// 0 when there was none of late.
    package func value(now: MediaTimestamp) -> Double {
        guard let lastLoss, now - lastLoss < Self.forgotten, sent > 0 else { return 0 }
        return min(1, max(Self.least, (lost + 1) / (sent + 20)))
    }
}
