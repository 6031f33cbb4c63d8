import GantryCore
import GantryPlatform
import GantryTransport

/// The way of media to one studio: over its connection or over UDP beside it, and how much of it the link takes.
///
/// The time comes on the connection's I/O thread, FEEDBACK there or on "producer-udp", packets on the encoding threads.
final class MediaDelivery: @unchecked Sendable {  // All state is guarded by `lock`.
    private let carrier: SecureCarrier
    private let lock = Lock()
    /// Where both ends and the link can, from START on.
    private var route: DatagramRoute?
    /// From the first picture on, where the studio gives FEEDBACK.
    private var adaptation: LinkAdaptation?
    private var hasSound = false
    private var step = 0
    private let times = ConnectionTimes()

    init(carrier: SecureCarrier) { self.carrier = carrier }

    // MARK: Any thread

    private var openRoute: DatagramRoute? { lock.withLock { route } }

    /// What its pictures took in the last second.
    func stageTimes(
        now: MediaTimestamp
    ) -> (ready: PercentileWindow.Percentiles, queue: PercentileWindow.Percentiles) {
        (times.lastSecond(now: now), carrier.queueTimes(now: now))
    }

    /// The step of the ladder that its pictures are on, and the part of datagrams that is lost; nil while media goes over TLS.
    var quality: (step: Int, loss: Double?) { (lock.withLock { step }, openRoute?.loss) }

    /// When the studio was heard last by UDP.
    var datagramHeardAt: MediaTimestamp? { openRoute?.heardAt }

    /// Before a goodbye: lets go out what waits.
    func drain() { openRoute?.drain() }

    /// Throws away what waits; one packet that is half sent is completed.
    ///
    /// - Parameter channels: a mask, bit n is channel n.
    func discardWaiting(of channels: UInt16 = .max) {
        carrier.discardWaitingMedia(of: channels)
        if channels & 1 << Channels.video != 0 { openRoute?.discardWaiting() }
    }

    // MARK: The I/O thread

    /// The studio receives from now on, with sound or without. What it is to be told of the picture. Any thread.
    func started(hasSound: Bool) -> VideoState.State? {
        lock.withLock {
            self.hasSound = hasSound
            return adaptation?.setHasSound(hasSound)
        }
    }

    var hasRoute: Bool { openRoute != nil }

    /// Whether there is a route that takes all of these.
    func covers(_ streams: [StreamDescription]) -> Bool { openRoute?.covers(streams) ?? false }

    /// From now on it decides which way a packet goes. True when there was another one before.
    func take(_ route: DatagramRoute) -> Bool {
        let old = lock.withLock { () -> DatagramRoute? in
            defer { self.route = route }
            return self.route
        }
        old?.close()
        return old != nil
    }

    func bound(_ bind: CarrierBind) { openRoute?.bound(bind) }
    func routeDeadline(now: MediaTimestamp) -> MediaTimestamp? { openRoute?.deadline(now: now) }
    func close() { openRoute?.close() }

    /// The studio tells how a channel comes, over the connection or by UDP ("producer-udp"). Forty times a second: nothing is allocated.
    /// What it is to be told of the picture.
    func received(_ feedback: Feedback, now: MediaTimestamp) -> VideoState.State? {
        guard feedback.channel == Channels.video || feedback.channel == Channels.audio else { return nil }
        let measure = linkMeasure
        let state = lock.withLock {
            adaptation?.received(feedback, isVideo: feedback.channel == Channels.video, measure: measure, now: now)
        }
        tellCarrier()
        return state
    }

    /// Looks at the link also when the studio is silent.
    ///
    /// - Returns: what the studio is to be told of the picture, and when to look again; nil: not by itself.
    func measureLink(now: MediaTimestamp) -> (state: VideoState.State?, next: MediaTimestamp?) {
        guard let deadline = lock.withLock({ adaptation?.deadline }) else { return (nil, nil) }
        guard now >= deadline else { return (nil, deadline) }
        let measure = linkMeasure
        let state = lock.withLock { adaptation?.timePassed(measure: measure, now: now) }
        tellCarrier()
        return (state, lock.withLock { adaptation?.deadline })
    }

    /// What TCP says; over UDP FEEDBACK alone tells.
    private var linkMeasure: LinkMeasure? { openRoute?.videoBacklog == nil ? carrier.measure() : nil }

    /// Where there is no sound, there is nothing that a picture could be in the way of.
    private func tellCarrier() {
        carrier.setBytesUnderWay(lock.withLock { hasSound ? adaptation?.bytesUnderWay ?? 0 : Int(Int32.max) })
    }

    // MARK: The encoding threads

    var videoBacklog: VideoBacklog {
        if let waiting = openRoute?.videoBacklog { return waiting }
        var backlog = carrier.videoBacklog
        backlog.unconfirmed -= lock.withLock { adaptation?.bytesUnderWay } ?? 0
        return backlog
    }

    var videoRate: Int? { lock.withLock { adaptation?.bitrate } }

    var takesVideo: Bool {
        let now = MonotonicClock.now()
        return lock.withLock { adaptation?.takesVideo(now: now) ?? true }
    }

    /// Where the studio gives FEEDBACK: pictures are wanted at that many bits a second at most.
    func videoBegins(maximum: Int) {
        lock.withLock {
            if adaptation == nil {
                adaptation = LinkAdaptation(maximum: maximum, hasSound: hasSound)
            } else {
                adaptation?.setMaximum(maximum)
            }
        }
    }

    func rateChanged(_ rate: Rate) { lock.withLock { step = Int(rate.step) } }

    func videoHeldUp() { lock.withLock { adaptation?.heldUp() } }

    func send(_ packet: MediaPacket) -> Bool {
        if packet.codec.isVideo { times.handed(packet) }
        let channel = packet.codec.isVideo ? Channels.video : Channels.audio
        return openRoute?.send(packet, channel: channel) ?? carrier.send(packet, channel: channel)
    }
}
