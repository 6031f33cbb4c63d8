/// Finds out whether a path takes UDP, and how large its datagrams may be: probes of each size until one is answered. Pure.
package struct PathProbe: Sendable {
    package enum Result: Hashable, Sendable {
        case running
        /// Largest payload that was answered.
        case open(payload: Int)
        case blocked
    }

    private let sizes: [Int]
    private let start: MediaTimestamp
    private var nextRound: MediaTimestamp
    private var sizeIndex = 0
    private var number: UInt32 = 0
    private var firstAnswer: MediaTimestamp?
    private var best = 0

    /// - Parameter sizes: largest first.
    package init(sizes: [Int], now: MediaTimestamp) {
        self.sizes = sizes
        start = now
        nextRound = now
    }

    /// The next probe to send now; nil when none is due.
    package mutating func due(now: MediaTimestamp) -> (number: UInt32, size: Int)? {
        guard result(now: now) == .running, now >= nextRound, !sizes.isEmpty else { return nil }
        let size = sizes[sizeIndex]
        sizeIndex += 1
        if sizeIndex == sizes.count {
            sizeIndex = 0
            nextRound = now + DatagramLimits.probeInterval
        }
        guard size > best else { return due(now: now) }
        number &+= 1
        return (number, size)
    }

    /// The other end says what it got. What was not sent is passed over.
    package mutating func answered(number: UInt32, size: Int, now: MediaTimestamp) {
        guard number >= 1, number <= self.number, sizes.contains(size) else { return }
        best = max(best, size)
        if firstAnswer == nil { firstAnswer = now }
    }

    /// How long the first answer took.
    package var answerTime: MediaDuration { firstAnswer.map { $0 - start } ?? .zero }

    package func result(now: MediaTimestamp) -> Result {
        if let largest = sizes.first, best == largest { return .open(payload: best) }
        if let firstAnswer, now >= firstAnswer + DatagramLimits.probeGrace { return .open(payload: best) }
        return firstAnswer == nil && now >= start + DatagramLimits.probeLimit ? .blocked : .running
    }

    /// When to look again.
    package var nextTime: MediaTimestamp {
        firstAnswer.map { min(nextRound, $0 + DatagramLimits.probeGrace) }
            ?? min(nextRound, start + DatagramLimits.probeLimit)
    }
}
