import GantryCore
import GantryPlatform
import GantryTransport

/// Decides for one studio whether a packet goes over UDP or over TLS, and tries UDP again from time to time where it failed.
///
/// The way is opened at the beginning, and used once TCP loses packets or when the studio wants it: on a clean network TCP is as
/// quick, and takes less of the processor.
///
/// A picture changes its way only with a key frame: the studio then needs nothing that is still under way on the other.
final class DatagramRoute: @unchecked Sendable {
    // `lock` guards `sender`, `token`, `isOpen`, `openedAt`, `isWanted`, `videoIsHere` and `failure`; the rest: the connection's I/O thread.
    private let path: DatagramPath
    private let exporter: [UInt8]
    private let sessionID: UInt64
    private let channels: [(channel: UInt16, isVideo: Bool)]
    private let offer: (CarrierOffer) -> Void
    private let wakeUp: @Sendable () -> Void
    private let needsKeyFrame: @Sendable () -> Void
    private let feedback: @Sendable (Feedback) -> Void
    private let sample: () -> RandomLossWatch.Sample?
    private var losses = RandomLossWatch()
    /// The studio wants it whatever TCP does.
    private var isInsisted = false
    private var nextSample = MediaTimestamp(microseconds: 0)
    private let lock = Lock()
    private var sender: DatagramSender?
    private var token: [UInt8] = []
    private var isOpen = false
    private var isWanted = false
    private var videoIsHere = false
    /// An attempt that has ended, to be cleared away on the I/O thread.
    private var failure: DatagramEvent?

    private var nextAttempt: MediaTimestamp?
    private var probeDelay = ProbeDelay()
    /// Datagrams pass since then: to be noted on the I/O thread. Guarded by `lock`.
    private var openedAt: MediaTimestamp?
    private var answerLimit: MediaTimestamp?
    private var hasWarned = false
    private var isClosed = false

    /// How long the studio may take for CARRIER_BIND.
    private static let answerTime = MediaDuration.seconds(1)

    /// Offers datagrams at the next `deadline`.
    ///
    /// - Parameters:
    ///   - isNext: there was another one before: the studio passes over offers that are less than 2 s apart.
    ///   - offer: called on the I/O thread.
    ///   - feedback: called on the sender's thread with FEEDBACK that came by UDP.
    ///   - sample: how TCP does; called on the I/O thread.
    ///   - wakeUp: makes `deadline` be called soon.
    init(
        path: DatagramPath, exporter: [UInt8], sessionID: UInt64, streams: [StreamDescription], isNext: Bool,
        offer: @escaping (CarrierOffer) -> Void, wakeUp: @escaping @Sendable () -> Void,
        needsKeyFrame: @escaping @Sendable () -> Void, feedback: @escaping @Sendable (Feedback) -> Void,
        sample: @escaping () -> RandomLossWatch.Sample?
    ) {
        self.sample = sample
        self.path = path
        self.exporter = exporter
        self.sessionID = sessionID
        channels = Self.carried(streams).map { ($0.channel, $0.kind == .video) }
        self.offer = offer
        self.wakeUp = wakeUp
        self.needsKeyFrame = needsKeyFrame
        self.feedback = feedback
        nextAttempt = channels.isEmpty ? nil : MonotonicClock.now() + (isNext ? .seconds(2) : .zero)
    }

    /// Pictures of other codecs go over TLS.
    private static func carried(_ streams: [StreamDescription]) -> [StreamDescription] {
        streams.filter { $0.codec == .h264 || $0.codec == .opus }
    }

    /// Whether it is for all of these, as far as datagrams are. Any thread.
    func covers(_ streams: [StreamDescription]) -> Bool {
        Self.carried(streams).allSatisfy { stream in takes(stream.channel) }
    }

    private func takes(_ channel: UInt16) -> Bool { channels.contains { $0.channel == channel } }

    // MARK: The I/O thread

    /// Does what is due, and says when to be called again at the latest.
    func deadline(now: MediaTimestamp) -> MediaTimestamp? {
        guard !isClosed else { return nil }
        if let failure = lock.withLock({ self.failure }) { failed(failure, now: now) }
        if let limit = answerLimit, now >= limit { failed(.blocked, now: now) }
        if let due = nextAttempt, now >= due { attempt(now: now) }
        watchLosses(now: now)
        return MediaTimestamp.earlier(MediaTimestamp.earlier(nextAttempt, answerLimit), isWantedNow ? nil : nextSample)
    }

    private var isWantedNow: Bool { lock.withLock { isWanted } }

    private func watchLosses(now: MediaTimestamp) {
        guard now >= nextSample, !isWantedNow else { return }
        nextSample = now + RandomLossWatch.interval
        guard let sample = sample(), losses.add(sample, now: now) else { return }
        Log.info("TCP loses packets: media to the studio goes over UDP, where that passes")
        want()
    }

    private func want() {
        let isNow = lock.withLock { () -> Bool in
            defer { isWanted = true }
            return isOpen && !isWanted
        }
        if isNow { needsKeyFrame() }
    }

    private func attempt(now: MediaTimestamp) {
        nextAttempt = nil
        let token = KernelRandom.bytes(WireLimits.carrierTokenSize)
        do throws(GantryError) {
            let sender = try DatagramSender(
                path: path, keys: DatagramKeys(exporter: exporter, token: token), channels: channels,
                changed: { [weak self] in self?.changed($0) }, feedback: feedback)
            lock.withLock {
                self.sender = sender
                self.token = token
            }
            answerLimit = now + Self.answerTime
            let mask = channels.reduce(UInt16(0)) { $0 | 1 << $1.channel }
            offer(
                CarrierOffer(
                    token: token, port: sender.port, mask: mask, payload: UInt16(clamping: sender.largestPayload)))
        } catch {
            warn("\(error)")
        }
    }

    /// The studio's answer. One to something else is passed over.
    func bound(_ bind: CarrierBind) {
        let sender = lock.withLock { bind.token == token ? self.sender : nil }
        guard let sender, answerLimit != nil, bind.sessionID == sessionID, let port = bind.port, port > 0 else {
            return
        }
        answerLimit = nil
        isInsisted = bind.isWantedAtOnce
        if isInsisted { want() }
        do throws(GantryError) {
            try sender.start(port: port, payload: Int(bind.payload ?? UInt16(DatagramLimits.smallestPayload)))
        } catch {
            warn("\(error)")
            failed(.blocked, now: MonotonicClock.now())
        }
    }

    private func failed(_ event: DatagramEvent, now: MediaTimestamp) {
        let old = lock.withLock { () -> DatagramSender? in
            defer { sender = nil }
            isOpen = false
            failure = nil
            if event == .lossy { isWanted = isInsisted }
            return sender
        }
        old?.stop()
        if event == .lossy { losses = RandomLossWatch() }
        answerLimit = nil
        if let opened = lock.withLock({ openedAt }) { probeDelay.passed(now: opened) }
        lock.withLock { openedAt = nil }
        nextAttempt = now + probeDelay.failed(isLossy: event == .lossy, now: now)
        let reason =
            switch event {
            case .silent: "UDP does not reach it any more"
            case .lossy: "UDP loses too much"
            case .blocked, .opened: "a firewall on the way takes no UDP"
            }
        warn("media to the studio goes over TCP: \(reason). It will be tried again.")
    }

    /// Once in a session.
    private func warn(_ text: String) {
        if !hasWarned { Log.warning(text) }
        hasWarned = true
    }

    func close() {
        isClosed = true
        let old = lock.withLock { () -> DatagramSender? in
            defer { sender = nil }
            isOpen = false
            return sender
        }
        old?.stop()
    }

    // MARK: The sender's thread

    private func changed(_ event: DatagramEvent) {
        if case .opened(let payload) = event {
            Log.info("UDP passes to the studio, \(payload) bytes a packet")
            let isNow = lock.withLock { () -> Bool in
                isOpen = true
                openedAt = MonotonicClock.now()
                return isWanted
            }
            if isNow { needsKeyFrame() }
            return
        }
        lock.withLock {
            isOpen = false
            failure = event
        }
        wakeUp()
    }

    // MARK: The encoding threads

    /// Nil: this packet goes over TLS. Else whether it was taken; a picture that was not must be followed by a key frame.
    func send(_ packet: MediaPacket, channel: UInt16) -> Bool? {
        guard takes(channel) else { return nil }
        guard packet.codec.isVideo else { return sendSound(packet, channel) }
        let sender = lock.withLock { () -> Way in
            let fits = packet.codec == .h264 && packet.count <= DatagramLimits.largestUnit
            if isOpen, isWanted, fits, videoIsHere || packet.header.isKey {
                videoIsHere = true
                return self.sender.map { .here($0) } ?? .connection
            }
            guard videoIsHere else { return .connection }
            guard packet.header.isKey else { return .none }
            videoIsHere = false
            return .connection
        }
        switch sender {
        case .here(let sender): return sender.send(packet, channel: channel)
        case .connection: return nil
        case .none: return false
        }
    }

    private enum Way {
        case here(DatagramSender)
        case connection
        /// The way changes, and this is no key frame.
        case none
    }

    private func sendSound(_ packet: MediaPacket, _ channel: UInt16) -> Bool? {
        guard packet.count <= DatagramLimits.largestSound,
            let sender = lock.withLock({ isOpen && isWanted ? self.sender : nil })
        else { return nil }
        return sender.send(packet, channel: channel)
    }

    /// Before a goodbye: lets go out what waits. Not on the sender's thread.
    func drain() { lock.withLock { isOpen ? sender : nil }?.drain(until: MonotonicClock.now() + .milliseconds(300)) }

    /// The part of datagrams that is lost; nil: media goes over TLS.
    var loss: Double? { lock.withLock { isOpen && isWanted ? sender : nil }?.statistics.loss }

    /// When the studio was heard last by UDP; nil: not since the last attempt.
    var heardAt: MediaTimestamp? { lock.withLock { sender }?.statistics.heardAt }

    func discardWaiting() { lock.withLock { sender }?.discardWaiting() }

    /// Nil: pictures go over TLS.
    var videoBacklog: VideoBacklog? {
        lock.withLock { isOpen && videoIsHere ? sender : nil }?.videoBacklog
    }
}
