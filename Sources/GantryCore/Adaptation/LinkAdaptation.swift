/// What one studio's link takes: everything that a producer learns from FEEDBACK and from its own system, put together.
/// Pure: time is an argument. Owned by one thread, or guarded by its owner's lock; allocates nothing. It has 3 KB: not
/// copyable, so that looking at it for every picture is in place.
package struct LinkAdaptation: ~Copyable, Sendable {
    /// How often it should hear of the link at least, with or without FEEDBACK.
    package static let interval = MediaDuration.milliseconds(50)
    /// A studio that gives no FEEDBACK for so long while pictures are on their way does not read: it gets no more.
    package static let patience = MediaDuration.seconds(1)

    /// Not more than this is no queue: a delayed confirmation (RFC 1122 section 4.2.3.2) leaves two segments open, and a
    /// packet of sound. On a slow link that would be one, so there it is what goes out in 25 ms.
    private var crumbs: Int { min(4096, bitrate / 8 / 40) }

    private var controller: RateController
    /// Without sound, a poor picture is better than none.
    private var hasSound: Bool
    private var picture = PathDelay()
    private var sound = PathDelay()
    private var fallback = VideoFallback()
    private var roundTrips = WindowedMinimum()
    private var lastFeedback: MediaTimestamp?
    private var lastUpdate: MediaTimestamp?
    /// Of each channel: it may come twice, by UDP and later over the connection.
    private var newest: (picture: Feedback?, sound: Feedback?)
    private var lost: UInt32 = 0
    private var counted: Counted?
    private var isHeldUp = false

    /// What the bytes that have reached the other end are bytes of.
    private enum Counted {
        /// All of the connection, sound too.
        case connection
        /// Those of one channel, where it goes over UDP.
        case picture, sound
    }

    /// - Parameters:
    ///   - maximum: bits a second of video that are wanted.
    ///   - hasSound: there is something that goes on when the picture does not.
    package init(maximum: Int, hasSound: Bool) {
        controller = RateController(.init(maximum: maximum))
        self.hasSound = hasSound
    }

    /// Bits a second that the link has for video.
    package var bitrate: Int { controller.bitrate }
    /// Off when it has so little that sound alone is better.
    package var isVideoOn: Bool { fallback.isOn }

    /// Bytes that are under way although no queue is: what is sent in a round trip.
    ///
    /// The smallest of two seconds, not of ten: where the way becomes longer, too little would be handed to it for so long, and
    /// that little be taken for what the link bears. A queue that stands for two seconds is in it, and does not grow by that,
    /// since the rate is below the link's by then.
    package var bytesUnderWay: Int {
        guard let roundTrip = roundTrips.smallest(ofSeconds: 2) else { return 0 }
        let bits = Double(bitrate + controller.configuration.reserved) * Double(min(max(roundTrip, 0), 2_000_000)) / 1e6
        return Int(bits / 8)
    }

    /// False: the other end does not say that it reads any more.
    package func isHeard(now: MediaTimestamp) -> Bool { lastFeedback.map { now - $0 < Self.patience } ?? true }

    /// Whether pictures are of use to it.
    package func takesVideo(now: MediaTimestamp) -> Bool { isVideoOn && isHeard(now: now) }

    /// When `timePassed` is due.
    package var deadline: MediaTimestamp { (lastUpdate ?? MediaTimestamp(microseconds: 0)) + Self.interval }

    /// Sound begins, or ends: nothing else would tell of the link while there is no picture.
    ///
    /// - Returns: what to tell the studio of the picture.
    package mutating func setHasSound(_ new: Bool) -> VideoState.State? {
        hasSound = new
        guard !new, !isVideoOn else { return nil }
        fallback = VideoFallback()
        return .enabled
    }

    package mutating func setMaximum(_ maximum: Int) { controller.setMaximum(maximum) }

    /// A picture was left out because too much waits for this link.
    package mutating func heldUp() { isHeldUp = true }

    /// The studio tells of a channel.
    package mutating func received(
        _ feedback: Feedback, isVideo: Bool, measure: LinkMeasure?, now: MediaTimestamp
    ) -> VideoState.State? {
        lastFeedback = now
        guard isNews(feedback, isVideo: isVideo) else { return nil }
        let delay = isVideo ? picture.delay(feedback, now: now) : sound.delay(feedback, now: now)
        // While there is no picture, sound tells whether there could be one.
        guard isVideo != !isVideoOn else { return nil }
        // Counts of the peer: they may be anything.
        let total = feedback.late &+ feedback.dropped
        defer { lost = total }
        let counted = measure == nil ? isVideo ? Counted.picture : .sound : .connection
        return update(
            delay: delay, isStrained: total != lost, delivered: measure?.confirmed ?? feedback.bytes, counted, measure,
            now)
    }

    private mutating func isNews(_ feedback: Feedback, isVideo: Bool) -> Bool {
        let known = isVideo ? newest.picture : newest.sound
        if let known, feedback == known || feedback.bytes < known.bytes { return false }
        if isVideo { newest.picture = feedback } else { newest.sound = feedback }
        return true
    }

    /// No FEEDBACK came for a while.
    package mutating func timePassed(measure: LinkMeasure?, now: MediaTimestamp) -> VideoState.State? {
        guard now >= deadline else { return nil }
        // Without a measure nothing new is known.
        guard let measure else {
            lastUpdate = now
            return nil
        }
        return update(delay: nil, isStrained: false, delivered: measure.confirmed, .connection, measure, now)
    }

    private mutating func update(
        delay: MediaDuration?, isStrained: Bool, delivered: UInt64, _ counted: Counted, _ measure: LinkMeasure?,
        _ now: MediaTimestamp
    ) -> VideoState.State? {
        lastUpdate = now
        if counted != self.counted {
            if self.counted == .connection { controller.wayChanged() } else { controller.countChanged() }
        }
        self.counted = counted
        if let roundTrip = measure?.roundTrip { _ = roundTrips.add(roundTrip.microseconds, now: now) }
        let report = RateController.Report(
            queueDelay: delay, delivered: delivered, isPictureAlone: counted == .picture, isHeldUp: isHeldUp,
            isStrained: isStrained, isIdle: measure.map { $0.unconfirmed <= crumbs } ?? false)
        isHeldUp = false
        defer { if !isVideoOn { controller.limit(to: VideoFallback.firstRate) } }
        if controller.update(report, now: now) {
            picture.queue.rebase()
            sound.queue.rebase()
            if let roundTrip = measure?.roundTrip { roundTrips.restart(at: roundTrip.microseconds) }
        }
        return hasSound ? fallback.update(bitrate: controller.bitrate, now: now) : nil
    }
}

/// How long the packets of one channel wait on their way.
private struct PathDelay {
    var queue = QueueDelay()
    private var lastSequence: UInt32?

    /// Nil for what was told before: of the same packet it is no news.
    mutating func delay(_ feedback: Feedback, now: MediaTimestamp) -> MediaDuration? {
        guard feedback.sequence != lastSequence else { return nil }
        lastSequence = feedback.sequence
        return feedback.delay.flatMap { queue.add(.microseconds(Int64($0)), now: now) }
    }
}
