import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport
import Synchronization

/// One encode of the picture and those who receive it: its encoder, its format, its sequence of packets. What a device
/// has coded itself is handed on untouched.
///
/// The encoding thread of `VideoPipeline` drives it; receivers come and go on any thread.
final class VideoRendition: @unchecked Sendable {  // `format` by `lock`; encoder state: encoding thread.
    private let settings: ProducerConfiguration.VideoSettings
    private let wantedBitrate: WantedBitrate
    private let pauseGate: PauseGate
    private let counters: VideoCounters
    private let events: @Sendable (ProducerEvent) -> Void
    /// Between two key frames of a studio that is far slower than the others.
    private static let hopelessInterval = MediaDuration.seconds(2)

    /// More than the queues of all connections hold together: a studio that takes nothing never starves the others.
    private let packets = ReusePool<MediaPacket>(
        capacity: ProducerServer.maximumSessions * SecureCarrier.videoQueueCapacity + 16
    ) { MediaPacket(capacity: 64 * 1024) }
    private let subscribers = SubscriberList()
    private let keyFrameWanted = Atomic<Bool>(false)

    /// Held while formats are told, so that each receiver sees them in order and before the first packet.
    private let formatOrder = Lock()
    private let lock = Lock()
    private var format: (VideoStreamFormat, epoch: UInt16)?

    /// The numbers of formats, which no two renditions share.
    private let epochs: EpochCounter

    // Encoding thread only.
    private var encoder: H264Encoder?
    private var quality: VideoQuality
    private var entropy = EntropyChoice()
    private var nextEncoder = MediaTimestamp(microseconds: .min)
    private var nextSize = MediaTimestamp(microseconds: .min)
    /// Each encoder is a FORMAT for every studio, and each size a RATE: it takes 200 messages a second.
    private static let encoderInterval = MediaDuration.milliseconds(20)
    private var scaled: SizedPictures?
    private var converted: SizedPictures?
    private var coded: CodedStream?
    /// What the encoder was last told.
    private var applied = (0, FrameRate.fps30)
    private var gate = FrameGate()
    private var sequence: UInt32
    private var epoch: UInt16 = 0
    private var seenPauses = 0
    /// Requests before this time wait: whatever studios ask for, key frames stay this far apart.
    private var nextKeyFrame = MediaTimestamp(microseconds: 0)

    /// - Parameter sequence: of its first packet; far from those of other renditions, so that who changes over sees a new
    ///   beginning and no loss.
    init(
        settings: ProducerConfiguration.VideoSettings, wish: VideoWish = VideoWish(), sequence: UInt32 = 0,
        wantedBitrate: WantedBitrate, epochs: EpochCounter, pauseGate: PauseGate, counters: VideoCounters,
        events: @escaping @Sendable (ProducerEvent) -> Void
    ) {
        self.settings = settings
        self.wantedBitrate = wantedBitrate
        self.sequence = sequence
        self.epochs = epochs
        quality = VideoQuality(settings, wish)
        coded = settings.coded.map { CodedStream($0) }
        self.pauseGate = pauseGate
        self.counters = counters
        self.events = events
    }

    // MARK: Any thread

    func requestKeyFrame() { keyFrameWanted.store(true, ordering: .relaxed) }
    var wantsKeyFrame: Bool { keyFrameWanted.load(ordering: .relaxed) }

    func add(_ subscriber: any MediaSubscriber) {
        // Either the newcomer gets the format here, or the encoding thread tells it the next one: never an old one late.
        formatOrder.withLock {
            if let format = lock.withLock({ format }) {
                subscriber.formatChanged(.video(format.0), epoch: format.epoch)
            }
            subscribers.add(subscriber)
        }
        requestKeyFrame()
    }

    func remove(_ subscriber: any MediaSubscriber) { subscribers.remove(subscriber) }
    func serves(_ subscriber: any MediaSubscriber) -> Bool {
        subscribers.snapshot.contains { $0.subscriber === subscriber }
    }
    var isUsed: Bool { !subscribers.isEmpty }

    // MARK: Encoding thread

    /// Lets go of the encoder; the next picture begins anew.
    func reset() { encoder = nil }

    func handle(_ input: VideoInput) throws(GantryError) {
        let receivers = subscribers.snapshot
        guard !receivers.isEmpty else { return reset() }
        guard pauseGate.permits(input.captureTime) else { return }
        beginAnewAfterPause(receivers)
        switch input {
        case .picture(let picture): try encode(picture, for: receivers)
        case .coded(let packet): passOn(packet, to: receivers)
        }
    }

    private func encode(_ picture: Picture, for receivers: [SubscriberList.Entry]) throws(GantryError) {
        let start = MonotonicClock.now()
        quality.want(bitrate: wantedBitrate.value)
        if quality.isOther(width: picture.width, height: picture.height) {
            guard start >= nextSize else { return counters.skipped() }
            nextSize = start + Self.encoderInterval
        }
        let isNew = quality.begin(width: picture.width, height: picture.height)
        for receiver in receivers where isNew || !receiver.hasBegun {
            receiver.hasBegun = true
            receiver.subscriber.videoBegins(maximum: quality.maximum)
            if let rate = quality.toldRate { receiver.subscriber.rateChanged(rate) }
        }
        share(among: receivers, now: start)
        guard quality.takesPicture(at: picture.captureTime) else {
            // Fewer pictures than come are what was wished for, but on a lower step.
            return quality.step.index > 0 ? counters.skipped() : ()
        }
        guard isAnyoneReady(receivers), let picture = try fitted(picture), let packet = packets.take() else {
            return counters.skipped()
        }
        guard let encoder = try preparedEncoder(for: picture, now: start) else { return counters.skipped() }
        let forceKey = start >= nextKeyFrame && keyFrameWanted.exchange(false, ordering: .relaxed)
        try encoder.encode(picture, forceKey: forceKey, into: packet)
        if packet.header.isKey { nextKeyFrame = start + SessionLimits.keyFrameInterval }
        finish(packet, begun: start, for: receivers)
    }

    /// Finds the rate that all can take, and tells them.
    private func share(among receivers: [SubscriberList.Entry], now: MediaTimestamp) {
        var best: Int?
        for receiver in receivers {
            if receiver.subscriber.takesVideo, let rate = receiver.subscriber.videoRate {
                best = max(best ?? rate, rate)
            }
        }
        // While all links are too poor for a picture, it stays as it was.
        guard best != nil || receivers.contains(where: { $0.subscriber.takesVideo }) else { return }
        var shared: Int?
        for receiver in receivers {
            guard receiver.subscriber.takesVideo, let best, let rate = receiver.subscriber.videoRate else { continue }
            receiver.isHopeless = SharedRate.isHopeless(rate, best: best)
            if !receiver.isHopeless { shared = min(shared ?? rate, rate) }
        }
        quality.update(shared: shared, now: now)
        guard let news = quality.news(now: now) else { return }
        for receiver in receivers { receiver.subscriber.rateChanged(news) }
    }

    private func isAnyoneReady(_ receivers: [SubscriberList.Entry]) -> Bool {
        var isReady = false
        for receiver in receivers {
            receiver.isReady = receiver.subscriber.takesVideo && gate.permits(receiver.subscriber.videoBacklog)
            guard !receiver.isHopeless, receiver.subscriber.takesVideo else { continue }
            if receiver.isReady { isReady = true } else { receiver.subscriber.videoHeldUp() }
        }
        return isReady
    }

    /// The picture in the size of the ladder's step. Nil when every buffer is in use.
    private func fitted(_ picture: Picture) throws(GantryError) -> Picture? {
        let size = quality.size(of: picture)
        guard size.height < picture.height & ~1 else { return picture }
        guard let small = Self.take(from: &scaled, size.width, size.height) else { return nil }
        guard picture.format != .i420 else {
            try PixelConverter.scale(picture, to: small)
            return small
        }
        guard let plain = Self.take(from: &converted, picture.width, picture.height) else { return nil }
        try PixelConverter.convert(picture, to: plain)
        try PixelConverter.scale(plain, to: small)
        return small
    }

    /// Pictures of one size, in I420.
    private struct SizedPictures {
        let width, height: Int
        let pool: ReusePool<Picture>
    }

    private static func take(from pictures: inout SizedPictures?, _ width: Int, _ height: Int) -> Picture? {
        if let pictures, pictures.width == width, pictures.height == height { return pictures.pool.take() }
        let new = ReusePool<Picture>(capacity: 4) { Picture(format: .i420, width: width, height: height) }
        pictures = SizedPictures(width: width, height: height, pool: new)
        return new.take()
    }

    /// What the device has coded. Whoever lacks what a packet refers to waits for the next key frame.
    private func passOn(_ packet: MediaPacket, to receivers: [SubscriberList.Entry]) {
        let start = MonotonicClock.now()
        guard coded?.admit(packet) == true, let format = coded?.format else {
            for receiver in receivers { receiver.awaitsKeyFrame = true }
            requestKeyFrame()
            counters.skipped()
            return
        }
        publish(format, bitrate: nil)
        if packet.header.isKey { keyFrameWanted.store(false, ordering: .relaxed) }
        _ = isAnyoneReady(receivers)
        finish(packet, begun: start, for: receivers)
    }

    private func finish(_ packet: MediaPacket, begun start: MediaTimestamp, for receivers: [SubscriberList.Entry]) {
        packet.arrivalTime = MonotonicClock.now()
        packet.duration = quality.frameRate.frameDuration
        packet.header.sequence = sequence
        packet.header.epoch = epoch
        sequence &+= 1
        gate.encoded(bytes: packet.count)
        var isTaken = false
        guard pauseGate.pass(packet.header.captureTime, { isTaken = deliver(packet, to: receivers) }) else { return }
        counters.encoded(
            bytes: packet.count, in: packet.arrivalTime - start, waited: start - packet.header.captureTime,
            at: packet.arrivalTime, isTaken: isTaken)
    }

    /// The pictures before a pause may not have reached everybody: nothing may refer to them.
    private func beginAnewAfterPause(_ receivers: [SubscriberList.Entry]) {
        let pauses = pauseGate.pauseCount
        guard pauses != seenPauses else { return }
        seenPauses = pauses
        encoder = nil
        for receiver in receivers { receiver.awaitsKeyFrame = true }
    }

    /// False when nobody has taken it: a link fell behind while it was encoded, or waits for a key frame.
    private func deliver(_ packet: MediaPacket, to receivers: [SubscriberList.Entry]) -> Bool {
        var isTaken = false
        for receiver in receivers {
            if receiver.isHopeless { receiver.awaitsKeyFrame = true }
            if receiver.awaitsKeyFrame && !packet.header.isKey {
                askForKeyFrame(receiver, now: packet.arrivalTime)
                continue
            }
            // As it was decided before encoding: who was ready then gets what was made for it.
            let isSent = receiver.isReady && receiver.subscriber.send(packet)
            receiver.awaitsKeyFrame = !isSent
            if isSent, receiver.isHopeless { receiver.nextKeyFrame = packet.arrivalTime + Self.hopelessInterval }
            isTaken = isTaken || isSent
        }
        return isTaken
    }

    /// Key frames cost everybody some quality: whoever is far too slow gets one now and then, when its link is free.
    private func askForKeyFrame(_ receiver: SubscriberList.Entry, now: MediaTimestamp) {
        if receiver.isHopeless {
            guard now >= receiver.nextKeyFrame, receiver.isReady else { return }
        }
        if receiver.isReady { requestKeyFrame() }
    }

    /// Nil: it would be another one, and too soon after the last.
    private func preparedEncoder(for picture: Picture, now: MediaTimestamp) throws(GantryError) -> H264Encoder? {
        let width = picture.width & ~1
        let height = picture.height & ~1
        let density = Double(quality.bitrate) / (Double(width * height) * quality.step.frameRate.framesPerSecond)
        if let encoder, let format = lock.withLock({ format }), format.0.width == width, format.0.height == height,
            format.0.color == picture.color
        {
            entropy.update(bitsPerPixel: density, now: picture.captureTime)
            if entropy.coding == encoder.configuration.entropyCoding {
                try apply(to: encoder)
                return encoder
            }
        } else {
            entropy.begin(bitsPerPixel: density)
        }
        guard now >= nextEncoder else { return nil }
        nextEncoder = now + Self.encoderInterval
        let configuration = H264EncoderConfiguration(
            width: width, height: height, frameRate: quality.frameRate, bitrate: quality.bitrate, color: picture.color,
            entropyCoding: entropy.coding)
        let encoder = try H264Encoder(configuration: configuration)
        self.encoder = encoder
        applied = (quality.bitrate, quality.frameRate)
        try apply(to: encoder)
        gate = FrameGate()
        let new = VideoStreamFormat(
            codec: .h264, width: width, height: height, frameRate: quality.frameRate, color: picture.color,
            parameterSets: encoder.parameterSets)
        publish(new, bitrate: quality.bitrate)
        return encoder
    }

    /// Follows the rate where it has changed by 2 % at least, or is whole again.
    private func apply(to encoder: H264Encoder) throws(GantryError) {
        let wanted = (quality.bitrate, quality.step.frameRate)
        let change = (wanted.0 - applied.0).magnitude
        guard wanted.1 != applied.1 || change * 50 >= applied.0 || (change > 0 && wanted.0 == quality.maximum) else {
            return
        }
        try encoder.setBitrate(wanted.0, frameRate: wanted.1)
        applied = wanted
    }

    /// Tells all receivers, if it is another one than before.
    ///
    /// - Parameter bitrate: nil when a device decides it.
    private func publish(_ new: VideoStreamFormat, bitrate: Int?) {
        let isNew = formatOrder.withLock { () -> Bool in
            if let format = lock.withLock({ format }), format.0 == new { return false }
            epoch = epochs.next()
            lock.withLock { format = (new, epoch) }
            for receiver in subscribers.snapshot { receiver.subscriber.formatChanged(.video(new), epoch: epoch) }
            return true
        }
        guard isNew else { return }
        events(.videoFormat(width: new.width, height: new.height, bitrate: bitrate))
    }
}
