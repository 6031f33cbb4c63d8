/// What a link took when it was full the last time, less what sound takes of it. A plain value of `RateController`.
struct FullRate: Sendable {
    /// It is no news after that.
    private static let memory = MediaDuration.seconds(30)
    /// Looks so soon after the first one are at the same link: while a queue drains, less comes than it takes.
    private static let sameLink = MediaDuration.milliseconds(1500)
    /// This share is given at once after a queue has gone; below it there is much room for one to drain, and some up to the second.
    private static let sparse = 0.65
    private static let stillSparse = 0.8
    private static let near = sparse...1.15

    /// Bits a second.
    private(set) var rate: Double
    /// Of the newest look, and of the first one.
    private(set) var time: MediaTimestamp
    private let since: MediaTimestamp
    /// The link was full all the time that was looked at.
    private let isCertain: Bool

    /// - Parameters:
    ///   - rate: of now.
    ///   - known: of before.
    init(_ rate: Double, isCertain: Bool, after known: FullRate?, now: MediaTimestamp) {
        time = now
        if let known, known.isCertain, now - known.since < Self.sameLink {
            self.rate = max(rate, known.rate)
            since = known.since
            self.isCertain = true
        } else {
            self.rate = rate
            since = now
            self.isCertain = isCertain
        }
    }

    func isNews(_ now: MediaTimestamp) -> Bool { now - time < Self.memory }

    /// Whether so little is sent that a queue of ours shrinks.
    ///
    /// - Parameter wasSo: the rate may have risen since it was so.
    func isSparse(_ target: Double, wasSo: Bool = false, _ now: MediaTimestamp) -> Bool {
        isCertain && isNews(now) && target <= (wasSo ? Self.stillSparse : Self.sparse) * rate
    }

    func isNear(_ target: Double, _ now: MediaTimestamp) -> Bool {
        isNews(now) && Self.near.lowerBound * rate...Self.near.upperBound * rate ~= target
    }
}
