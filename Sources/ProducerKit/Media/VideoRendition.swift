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
    private let pauseGate: PauseGate
    private let counters: VideoCounters
    private let events: @Sendable (ProducerEvent) -> Void
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

    // Encoding thread only.
    private var encoder: H264Encoder?
    private var coded: CodedStream?
    private var gate = FrameGate()
    private var sequence: UInt32 = 0
    private var epoch: UInt16 = 0
    private var seenPauses = 0
    /// Requests before this time wait: whatever studios ask for, key frames stay this far apart.
    private var nextKeyFrame = MediaTimestamp(microseconds: 0)

    init(
        settings: ProducerConfiguration.VideoSettings, pauseGate: PauseGate, counters: VideoCounters,
        events: @escaping @Sendable (ProducerEvent) -> Void
    ) {
        self.settings = settings
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
        try prepareEncoder(for: picture)
        var ready = 0
        for receiver in receivers {
            if gate.permits(receiver.subscriber.videoBacklog) { ready += 1 }
        }
        guard ready > 0, let encoder, let packet = packets.take() else {
            counters.skipped()
            return
        }
        let start = MonotonicClock.now()
        let forceKey = start >= nextKeyFrame && keyFrameWanted.exchange(false, ordering: .relaxed)
        try encoder.encode(picture, forceKey: forceKey, into: packet)
        if packet.header.isKey { nextKeyFrame = start + SessionLimits.keyFrameInterval }
        finish(packet, begun: start, for: receivers)
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
        finish(packet, begun: start, for: receivers)
    }

    private func finish(_ packet: MediaPacket, begun start: MediaTimestamp, for receivers: [SubscriberList.Entry]) {
        packet.arrivalTime = MonotonicClock.now()
        packet.duration = settings.frameRate.frameDuration
        packet.header.sequence = sequence
        packet.header.epoch = epoch
        sequence &+= 1
        gate.encoded(bytes: packet.count)
        var isTaken = false
        guard pauseGate.pass(packet.header.captureTime, { isTaken = deliver(packet, to: receivers) }) else { return }
        counters.encoded(bytes: packet.count, in: packet.arrivalTime - start, isTaken: isTaken)
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
            if receiver.awaitsKeyFrame && !packet.header.isKey {
                requestKeyFrame()
                continue
            }
            let permitted = gate.permits(receiver.subscriber.videoBacklog)
            let isSent = permitted && receiver.subscriber.send(packet)
            receiver.awaitsKeyFrame = !isSent
            isTaken = isTaken || isSent
        }
        return isTaken
    }

    private func prepareEncoder(for picture: Picture) throws(GantryError) {
        let width = picture.width & ~1
        let height = picture.height & ~1
        if let format = lock.withLock({ format }), encoder != nil, format.0.width == width,
            format.0.height == height, format.0.color == picture.color
        {
            return
        }
        let bitrate =
            settings.bitrate
            ?? H264EncoderConfiguration.defaultBitrate(width: width, height: height, frameRate: settings.frameRate)
        let configuration = H264EncoderConfiguration(
            width: width, height: height, frameRate: settings.frameRate, bitrate: bitrate, color: picture.color)
        let encoder = try H264Encoder(configuration: configuration)
        self.encoder = encoder
        gate = FrameGate()
        let new = VideoStreamFormat(
            codec: .h264, width: width, height: height, frameRate: settings.frameRate, color: picture.color,
            parameterSets: encoder.parameterSets)
        publish(new, bitrate: bitrate)
    }

    /// Tells all receivers, if it is another one than before.
    ///
    /// - Parameter bitrate: nil when a device decides it.
    private func publish(_ new: VideoStreamFormat, bitrate: Int?) {
        let isNew = formatOrder.withLock { () -> Bool in
            if let format = lock.withLock({ format }), format.0 == new { return false }
            epoch &+= 1
            lock.withLock { format = (new, epoch) }
            for receiver in subscribers.snapshot { receiver.subscriber.formatChanged(.video(new), epoch: epoch) }
            return true
        }
        guard isNew else { return }
        events(.videoFormat(width: new.width, height: new.height, bitrate: bitrate))
    }
}
