import GantryCore
import GantryMedia
import GantryPlatform

/// Takes the newest picture, or what a device has coded itself, and hands it to the encode that all receivers share; where
/// some have other wishes, to theirs behind it.
///
/// One thread, "video-encode", from `start` to `stop`. While nobody receives, pictures are let go and no encoder runs.
final class VideoPipeline: @unchecked Sendable {  // `nextDeviceKeyFrame` by `lock`; `hasFailed`: encoding thread.
    private let settings: ProducerConfiguration.VideoSettings
    private let pauseGate: PauseGate
    private let events: @Sendable (ProducerEvent) -> Void
    private let slot = LatestSlot<VideoInput>()
    private let counters = VideoCounters()
    private let wantedBitrate: WantedBitrate
    private let renditions: RenditionSet
    private var thread: NamedThread?

    private let lock = Lock()
    /// A device is asked for key frames no more often than the encoder.
    private var nextDeviceKeyFrame = MediaTimestamp(microseconds: 0)
    private var hasFailed = false

    init(
        settings: ProducerConfiguration.VideoSettings, pauseGate: PauseGate,
        events: @escaping @Sendable (ProducerEvent) -> Void
    ) {
        self.settings = settings
        self.pauseGate = pauseGate
        self.events = events
        let (counters, epochs) = (counters, EpochCounter())
        let wantedBitrate = WantedBitrate(settings.bitrate)
        self.wantedBitrate = wantedBitrate
        renditions = RenditionSet(settings) { (wish: VideoWish, sequence: UInt32) -> VideoRendition in
            let isWhole = wish == VideoWish()
            return VideoRendition(
                settings: settings, wish: wish, sequence: sequence, wantedBitrate: wantedBitrate, epochs: epochs,
                pauseGate: pauseGate,
                counters: counters, events: { event in if isWhole { events(event) } })
        }
    }

    func start() throws(GantryError) {
        thread = try NamedThread("video-encode", urgency: .computing) { [self] in run() }
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
        counters.enqueued()
        return slot.put(input)
    }

    /// True once for each key frame that a device shall make, however many ask for it.
    var takesKeyFrameRequest: Bool {
        guard settings.coded != nil, renditions.primary.wantsKeyFrame else { return false }
        let now = MonotonicClock.now()
        return lock.withLock {
            guard now >= nextDeviceKeyFrame else { return false }
            nextDeviceKeyFrame = now + SessionLimits.keyFrameInterval
            return true
        }
    }

    /// A key frame is wanted, and the device that codes the pictures has not made one yet.
    var wantsDeviceKeyFrame: Bool { settings.coded?.codec == .h264 && isReceived && renditions.primary.wantsKeyFrame }

    /// Waits until the encoder has taken the last picture; false after `deadline`.
    func waitForRoom(until deadline: MediaTimestamp) -> Bool { slot.waitUntilTaken(until: deadline) }

    /// From the next picture on; nil: by size and rate. What a device codes itself stays as it is.
    func want(bitrate: Int?) { wantedBitrate.value = bitrate }

    func requestKeyFrame(for subscriber: (any MediaSubscriber)? = nil) { renditions.requestKeyFrame(for: subscriber) }
    func add(_ subscriber: any MediaSubscriber) { renditions.add(subscriber) }
    func remove(_ subscriber: any MediaSubscriber) { renditions.remove(subscriber) }
    func prefer(_ wish: VideoWish, _ subscriber: any MediaSubscriber) { renditions.prefer(wish, subscriber) }
    var isReceived: Bool { renditions.isUsed }
    func forget(_ subscriber: any MediaSubscriber) { renditions.forget(subscriber) }

    var statistics: ProducerStatistics {
        var result = counters.statistics
        result.framesReplaced = slot.droppedCount
        return result
    }

    var videoBytes: Int { counters.videoBytes }

    // MARK: Encoding thread

    private func run() {
        while let input = slot.take() {
            if hasFailed { continue }
            let size = input.size
            for (_, rendition) in renditions.current(width: size.width, height: size.height) {
                do throws(GantryError) {
                    try rendition.handle(input)
                } catch {
                    failed(rendition, error)
                }
            }
        }
        renditions.primary.reset()
    }

    private func failed(_ rendition: VideoRendition, _ error: GantryError) {
        rendition.reset()
        if renditions.drop(rendition) { return Log.warning("What a studio wished for cannot be encoded. \(error)") }
        hasFailed = true
        events(.failed(error))
    }
}
