/// Decides how many bits a second of video one link gets, from what is known of it each 50 ms. Pure: time is an argument.
///
/// The aim is delay, not the last bit of throughput: a picture takes the time that its bits need on the link, so a rate
/// close to the link's makes each picture late even without a queue. Hence
///
/// - more than 25 ms of queue in two reports one after the other, or pictures that were left out because too much waits:
///   `rate = 0.82 × delivered` (0.6 when it is more than 90 ms, to drain it), at most every 150 ms, and not while it shrinks at a
///   rate that is far below the link's; where the link was idle in between, the pictures are only too large: `0.82 × rate`;
/// - less than 15 ms of queue for a second (beside the time of a picture's own bits): up, slowly near the rate at which the
///   link was full the last time (4 % a second, and 1.2 % more for each second since then), fast (40 %) beyond it, and at
///   once up to 0.65 of it: what was below that drained the queue.
///
/// Reports that come late or not at all never raise the rate. Numbers of the peer are clamped. Owned by one thread;
/// allocates nothing.
package struct RateController: Sendable {
    package struct Configuration: Hashable, Sendable {
        /// Bits a second that the user wants at most; the rate starts there.
        package var maximum: Int
        /// Below it nothing is tried.
        package var minimum: Int
        /// What sound takes of the link, with its overhead.
        package var reserved: Int

        private static let largest = 1_000_000_000

        package init(maximum: Int, minimum: Int = 100_000, reserved: Int = 150_000) {
            self.minimum = min(max(minimum, 10_000), Self.largest)
            self.maximum = min(max(maximum, self.minimum), Self.largest)
            self.reserved = min(max(reserved, 0), Self.largest)
        }
    }

    package struct Report: Hashable, Sendable {
        /// How long the newest packet has waited in queues (`QueueDelay`); nil: nothing new came.
        package var queueDelay: MediaDuration?
        /// Bytes that have reached the other end since the beginning.
        package var delivered: UInt64
        /// Sound is not in `delivered`.
        package var isPictureAlone: Bool
        /// Pictures were left out since the last report because too much waits to be sent.
        package var isHeldUp: Bool
        /// The other end has thrown packets away since the last report: it must not be given more.
        package var isStrained: Bool
        /// All that was sent has been confirmed: what is late was not held up by the link, but by a busy machine.
        package var isIdle: Bool

        package init(
            queueDelay: MediaDuration?, delivered: UInt64, isPictureAlone: Bool = false, isHeldUp: Bool = false,
            isStrained: Bool = false, isIdle: Bool = false
        ) {
            self.isPictureAlone = isPictureAlone
            self.queueDelay = queueDelay
            self.delivered = delivered
            self.isHeldUp = isHeldUp
            self.isStrained = isStrained
            self.isIdle = isIdle
        }
    }

    private static let shareOfFull = 0.82
    private static let queueLimit = MediaDuration.milliseconds(25)
    private static let longQueue = MediaDuration.milliseconds(90)
    private static let calm = MediaDuration.milliseconds(15)
    private static let cutInterval = MediaDuration.milliseconds(150)
    private static let calmTime = MediaDuration.seconds(1)
    /// Feedback older than this says nothing about now.
    package static let feedbackAge = MediaDuration.milliseconds(250)
    /// How long a link must have been full to be sure of what it takes, and how far back is looked then.
    private static let shortestLook = MediaDuration.milliseconds(140)
    private static let longestLook = MediaDuration.milliseconds(600)
    /// A cut that leaves room is waited for so long: two spans of `StandingDelay`.
    private static let settlingTime = MediaDuration.milliseconds(750)
    private static let slowGrowth = 0.04
    private static let acceleration = 0.012
    private static let fastGrowth = 0.4
    /// While a new way is tried out: doubles in a third of a second.
    private static let trialGrowth = 2.1
    private static let trialCalmTime = MediaDuration.milliseconds(300)

    package private(set) var configuration: Configuration
    /// Bits a second that the encoder should make.
    package var bitrate: Int { Int(target) }
    private var target: Double
    private var rate = DeliveredRate()
    /// Of the last two reports; the smaller one counts, as one large picture is late by itself.
    private var lastDelay = MediaDuration.zero
    private var delayBefore = MediaDuration.zero
    private var lastFeedback: MediaTimestamp?
    private var lastUpdate: MediaTimestamp?
    private var nextCut = MediaTimestamp(microseconds: .min)
    private var calmSince: MediaTimestamp?
    private var full: FullRate?
    private var lateSince: MediaTimestamp?
    /// All was confirmed since the first of the late reports: pictures are too large for the link, and it is not full.
    private var wasIdle = false
    private var delayAtCut = MediaDuration.zero
    private var standing = StandingDelay()
    private var isTrying = false

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        target = Double(configuration.maximum)
    }

    /// The user (or the studio) wants another maximum.
    package mutating func setMaximum(_ maximum: Int) {
        let wasFull = bitrate == configuration.maximum
        configuration = Configuration(
            maximum: maximum, minimum: configuration.minimum, reserved: configuration.reserved)
        target = wasFull ? Double(configuration.maximum) : min(target, Double(configuration.maximum))
    }

    /// `delivered` counts something else from now on.
    package mutating func countChanged() { rate = DeliveredRate() }

    /// Packets take another way from now on: what was learnt of the old one says little of it. Until the first sign of a queue the
    /// rate is tried out as TCP does at its beginning.
    package mutating func wayChanged() {
        countChanged()
        full = nil
        calmSince = nil
        isTrying = true
    }

    /// True when what looks like a queue has been there all the time though the rate was cut: it is the way itself
    /// (`QueueDelay.rebase`).
    package mutating func update(_ report: Report, now: MediaTimestamp) -> Bool {
        rate.add(total: report.delivered, at: now)
        let elapsed = lastUpdate.map { now - $0 } ?? .zero
        lastUpdate = now
        var isLate = false
        var isRebased = false
        if let delay = report.queueDelay {
            let delay = min(max(delay, .zero), .seconds(10))
            isLate = delay > Self.queueLimit && lastDelay > Self.queueLimit
            wasIdle = lastDelay > Self.queueLimit && (wasIdle || report.isIdle)
            delayBefore = lastDelay
            lastDelay = delay
            lastFeedback = now
            let isSparse = full?.isSparse(target, wasSo: standing.isWatching, now) ?? false
            if standing.add(delay, isSparse: isSparse || wasIdle, now: now) {
                isRebased = true
                isLate = false
                lastDelay = .zero
                delayBefore = .zero
                wayChanged()
            }
        }
        wasIdle = wasIdle || (report.isIdle && lastDelay > Self.queueLimit)
        if isLate || report.isHeldUp {
            calmSince = nil
            wasIdle = wasIdle && !report.isHeldUp
            lateSince = lateSince ?? now
            if !report.isIdle, !isSettling(now) {
                cut(reserved: report.isPictureAlone ? 0 : configuration.reserved, now: now)
            }
        } else if let lastFeedback, now - lastFeedback <= Self.feedbackAge,
            min(lastDelay, delayBefore) < calmLimit(now),
            !report.isStrained
        {
            lateSince = nil
            let since = calmSince ?? now
            calmSince = since
            let isQuick = isTrying || isSparse(now)
            if now - since >= (isQuick ? Self.trialCalmTime : Self.calmTime) { grow(elapsed, isQuick, now: now) }
        } else {
            calmSince = nil
        }
        return isRebased
    }

    private func isSparse(_ now: MediaTimestamp) -> Bool { full?.isSparse(target, now) ?? false }

    /// After a cut that leaves room the queue of before is on its way out, or it soon turns out that it was none (`StandingDelay`).
    private func isSettling(_ now: MediaTimestamp) -> Bool {
        guard isSparse(now), let full else { return false }
        let elapsed = now - full.time
        if elapsed < Self.settlingTime, lastDelay < delayAtCut + .milliseconds(10) { return true }
        return lastDelay < delayAtCut - MediaDuration(microseconds: elapsed.microseconds / 5)
    }

    /// A picture's own bits take longer on a link that has become slow, which is no queue: the smallest delay of the last ten
    /// seconds may be from before.
    private func calmLimit(_ now: MediaTimestamp) -> MediaDuration {
        guard let full, full.isNews(now), full.rate > 0 else { return Self.calm }
        let picture = Int64(min(target / full.rate, 1) * 1_000_000 / 30)
        return min(Self.calm + MediaDuration(microseconds: picture), Self.queueLimit - .milliseconds(2))
    }

    /// Not more than that: where nothing is sent, nothing is learnt of the link.
    package mutating func limit(to rate: Int) { target = min(target, Double(max(rate, configuration.minimum))) }

    private mutating func cut(reserved: Int, now: MediaTimestamp) {
        guard now >= nextCut else { return }
        nextCut = now + Self.cutInterval
        isTrying = false
        delayAtCut = lastDelay
        // Over a short span: what came before the link became slow must not count. With few packets it takes longer to tell.
        let span = MediaDuration.milliseconds(target < 1_500_000 ? 290 : 90)
        guard let delivered = rate.rate(over: span) ?? rate.rate(over: .milliseconds(40)), delivered > 0 else {
            // A link that stands still is none that is slow: nothing is encoded for it anyway.
            return
        }
        // TCP that waits for a segment hands on much at once then: over the whole time it is right.
        let lateFor = min(now - (lateSince ?? now), Self.longestLook)
        let whole = lateFor >= Self.shortestLook ? rate.rate(over: lateFor) : nil
        let available = Double(max(0, min(delivered, whole ?? delivered) - reserved))
        guard !wasIdle else {
            full = FullRate(max(available, target), isCertain: false, after: nil, now: now)
            target = max(Self.shareOfFull * target, Double(configuration.minimum))
            return
        }
        full = FullRate(
            whole.map { Double(max(0, $0 - reserved)) } ?? available, isCertain: whole != nil, after: full, now: now)
        let share = lastDelay > Self.longQueue ? 0.6 : Self.shareOfFull
        // One look at a link that stood still says little: half of the rate is the most that a cut takes.
        let wanted = max(share * available, target / 2)
        target = min(target, max(wanted, Double(configuration.minimum)))
    }

    private mutating func grow(_ elapsed: MediaDuration, _ isQuick: Bool, now: MediaTimestamp) {
        var growth = isQuick ? Self.trialGrowth : Self.fastGrowth
        if let full, full.isNear(target, now) {
            growth = min(Self.slowGrowth + Self.acceleration * (now - full.time).seconds, Self.fastGrowth)
        }
        let seconds = min(max(elapsed.seconds, 0), 0.1)
        target = min(target * (1 + growth * seconds), Double(configuration.maximum))
    }
}
