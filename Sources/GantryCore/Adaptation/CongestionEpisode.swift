/// Tells a queue, which shrinks when less is sent, from a way that has become longer, which does not. A plain value of
/// `RateController`.
struct CongestionEpisode: Sendable {
    private static let span = MediaDuration.milliseconds(600)
    /// Jitter of a way without a queue.
    private static let flat = MediaDuration.milliseconds(5)

    private var cuts = 0
    private var spanStart: MediaTimestamp?
    private var smallest = MediaDuration.seconds(10)
    private var previous: MediaDuration?

    /// True when the delay has stayed as it is, over two spans with a cut before each.
    mutating func add(_ delay: MediaDuration, isLate: Bool, now: MediaTimestamp) -> Bool {
        guard isLate || spanStart != nil else { return false }
        guard let start = spanStart, delay > .zero else {
            begin(now)
            return false
        }
        smallest = min(smallest, delay)
        guard now - start >= Self.span else { return false }
        if smallest < MediaDuration.milliseconds(25) {
            end()
            return false
        }
        let change = previous.map { smallest - $0 }
        let isFlat = change.map { MediaDuration.zero - Self.flat...Self.flat ~= $0 } ?? false
        if isFlat, cuts >= 4 {
            end()
            return true
        }
        previous = smallest
        begin(now)
        return false
    }

    mutating func cut() { cuts += 1 }

    private mutating func begin(_ now: MediaTimestamp) {
        spanStart = now
        smallest = .seconds(10)
    }

    private mutating func end() {
        spanStart = nil
        previous = nil
        cuts = 0
    }
}
