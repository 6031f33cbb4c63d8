import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport
import Synchronization

/// Takes the newest picture, encodes it once, and hands the access unit to every receiver. What a device has coded
/// itself is handed on untouched.
///
/// One thread, "video-encode", from `start` to `stop`. While nobody receives, pictures are let go and no encoder runs.
final class VideoPipeline: @unchecked Sendable {  // `format` and `counters` by `lock`; encoder state: encoding thread.
    private let settings: ProducerConfiguration.VideoSettings
    private let pauseGate: PauseGate
    private let events: @Sendable (ProducerEvent) -> Void
    private let slot = LatestSlot<VideoInput>()
    /// More than the queues of all connections hold together: a studio that takes nothing never starves the others.
    private let packets = ReusePool<MediaPacket>(
        capacity: ProducerServer.maximumSessions * SecureCarrier.videoQueueCapacity + 16
    ) { MediaPacket(capacity: 64 * 1024) }
    private let subscribers = SubscriberList()
    private let keyFrameWanted = Atomic<Bool>(false)
    private var thread: NamedThread?

    /// Held while formats are told, so that each receiver sees them in order and before the first packet.
    private let formatOrder = Lock()
    private let lock = Lock()
    private var format: (VideoStreamFormat, epoch: UInt16)?
    private var counters = ProducerStatistics()
    private var encodeTimes = PercentileWindow(capacity: 512)
    /// A device is asked for key frames no more often than the encoder.
    private var nextDeviceKeyFrame = MediaTimestamp(microseconds: 0)

    // Encoding thread only.
    private var encoder: H264Encoder?
    private var coded: CodedStream?
    private var gate = FrameGate()
    private var sequence: UInt32 = 0
    private var epoch: UInt16 = 0
    private var hasFailed = false
    private var seenPauses = 0
    /// Requests before this time wait: whatever studios ask for, key frames stay this far apart.
    private var nextKeyFrame = MediaTimestamp(microseconds: 0)

    init(
        settings: ProducerConfiguration.VideoSettings, pauseGate: PauseGate,
        events: @escaping @Sendable (ProducerEvent) -> Void
    ) {
        self.settings = settings
        coded = settings.coded.map { CodedStream($0) }
        self.pauseGate = pauseGate
        self.events = events
    }

    func start() throws(GantryError) {
        thread = try NamedThread("video-encode") { [self] in run() }
    }

    /// Ends the thread; a picture that waits is let go.
    func stop() {
        slot.close()
        thread?.join()
        thread = nil
    }

    // MARK: Any thread

    /// Newest wins. False while paused, and for a picture from before the last resume: it was let go.
    func enqueue(_ input: VideoInput) -> Bool {
        guard pauseGate.permits(input.captureTime) else { return false }
        lock.withLock { counters.framesEnqueued += 1 }
        return slot.put(input)
    }

    /// True once for each key frame that a device shall make, however many ask for it.
    var takesKeyFrameRequest: Bool {
        guard settings.coded != nil, keyFrameWanted.load(ordering: .relaxed) else { return false }
        let now = MonotonicClock.now()
        return lock.withLock {
            guard now >= nextDeviceKeyFrame else { return false }
            nextDeviceKeyFrame = now + SessionLimits.keyFrameInterval
            return true
        }
    }

    /// Waits until the encoder has taken the last picture; false after `deadline`.
    func waitForRoom(until deadline: MediaTimestamp) -> Bool { slot.waitUntilTaken(until: deadline) }

    func requestKeyFrame() { keyFrameWanted.store(true, ordering: .relaxed) }

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

    var statistics: ProducerStatistics {
        lock.withLock {
            var result = counters
            result.framesReplaced = slot.droppedCount
            let times = encodeTimes.percentiles()
            result.encodeMicrosecondsP50 = Int(times.p50)
            result.encodeMicrosecondsP95 = Int(times.p95)
            return result
        }
    }

    // MARK: Encoding thread

    private func run() {
        while let input = slot.take() {
            if hasFailed { continue }
            do throws(GantryError) {
                try handle(input)
            } catch {
                hasFailed = true
                encoder = nil
                events(.failed(error))
            }
        }
        encoder = nil
    }

    private func handle(_ input: VideoInput) throws(GantryError) {
        let receivers = subscribers.snapshot
        guard !receivers.isEmpty else {
            encoder = nil
            return
        }
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
            lock.withLock { counters.framesSkipped += 1 }
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
            lock.withLock { counters.framesSkipped += 1 }
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
        lock.withLock {
            encodeTimes.add(Int32(clamping: (packet.arrivalTime - start).microseconds))
            if isTaken {
                counters.framesSent += 1
                counters.videoBytes += packet.count
            } else {
                counters.framesSkipped += 1
            }
        }
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
