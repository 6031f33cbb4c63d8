/// What one studio's link takes: everything that a producer learns from FEEDBACK and from its own system, put together.
/// Pure: time is an argument. Owned by one thread, or guarded by its owner's lock; allocates nothing.
package struct LinkAdaptation: Sendable {
    /// How often it should hear of the link at least, with or without FEEDBACK.
    package static let interval = MediaDuration.milliseconds(50)
    /// A studio that gives no FEEDBACK for so long while pictures are on their way does not read: it gets no more.
    package static let patience = MediaDuration.seconds(1)

    private var controller: RateController
    private var queueDelay = QueueDelay()
    private var fallback = VideoFallback()
    private var roundTrips = WindowedMinimum()
    private var lastFeedback: MediaTimestamp?
    private var lastUpdate: MediaTimestamp?
    private var lastSequence: UInt32?
    private var lost: UInt32 = 0
    private var isHeldUp = false

    /// - Parameter maximum: bits a second of video that are wanted.
    package init(maximum: Int) { controller = RateController(.init(maximum: maximum)) }

    /// Bits a second that the link has for video.
    package var bitrate: Int { controller.bitrate }
    /// Off when it has so little that sound alone is better.
    package var isVideoOn: Bool { fallback.isOn }

    /// Bytes that are under way although no queue is: what is sent in a round trip.
    package var bytesUnderWay: Int {
        guard let roundTrip = roundTrips.smallest else { return 0 }
        let bits = Double(bitrate + controller.configuration.reserved) * Double(min(max(roundTrip, 0), 2_000_000)) / 1e6
        return Int(bits / 8)
    }

    /// False: the other end does not say that it reads any more.
    package func isHeard(now: MediaTimestamp) -> Bool { lastFeedback.map { now - $0 < Self.patience } ?? true }

    /// When `timePassed` is due.
    package var deadline: MediaTimestamp { (lastUpdate ?? MediaTimestamp(microseconds: 0)) + Self.interval }

    package mutating func setMaximum(_ maximum: Int) { controller.setMaximum(maximum) }

    /// A picture was left out because too much waits for this link.
    package mutating func heldUp() { isHeldUp = true }

    /// The studio tells of the video channel.
    package mutating func received(
        _ feedback: Feedback, measure: LinkMeasure?, now: MediaTimestamp
    ) -> VideoState.State? {
        lastFeedback = now
        // Told again, of the same packet, it is no news.
        let isNews = feedback.sequence != lastSequence
        lastSequence = feedback.sequence
        let delay = isNews ? feedback.delay.flatMap { queueDelay.add(.microseconds(Int64($0)), now: now) } : nil
        // Counts of the peer: they may be anything.
        let total = feedback.late &+ feedback.dropped
        defer { lost = total }
        return update(
            delay: delay, isStrained: total != lost, delivered: measure?.confirmed ?? feedback.bytes, measure, now)
    }

    /// No FEEDBACK came for a while.
    package mutating func timePassed(measure: LinkMeasure?, now: MediaTimestamp) -> VideoState.State? {
        guard now >= deadline else { return nil }
        // Without a measure nothing new is known.
        guard let measure else {
            lastUpdate = now
            return nil
        }
        return update(delay: nil, isStrained: false, delivered: measure.confirmed, measure, now)
    }

    private mutating func update(
        delay: MediaDuration?, isStrained: Bool, delivered: UInt64, _ measure: LinkMeasure?, _ now: MediaTimestamp
    ) -> VideoState.State? {
        lastUpdate = now
        if let roundTrip = measure?.roundTrip { _ = roundTrips.add(roundTrip.microseconds, now: now) }
        let report = RateController.Report(
            queueDelay: delay, delivered: delivered, isHeldUp: isHeldUp, isStrained: isStrained,
            capacity: measure?.capacity)
        isHeldUp = false
        if controller.update(report, now: now) { queueDelay.rebase() }
        return fallback.update(bitrate: controller.bitrate, now: now)
    }
}
