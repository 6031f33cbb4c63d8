import GantryCore
import GantryMedia
import GantryPlatform

/// Takes the newest picture, or what a device has coded itself, and hands it to the encode that all receivers share.
///
/// One thread, "video-encode", from `start` to `stop`. While nobody receives, pictures are let go and no encoder runs.
final class VideoPipeline: @unchecked Sendable {  // `nextDeviceKeyFrame` by `lock`; `hasFailed`: encoding thread.
    private let settings: ProducerConfiguration.VideoSettings
    private let pauseGate: PauseGate
    private let events: @Sendable (ProducerEvent) -> Void
    private let slot = LatestSlot<VideoInput>()
    private let counters = VideoCounters()
    private let rendition: VideoRendition
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
        rendition = VideoRendition(settings: settings, pauseGate: pauseGate, counters: counters, events: events)
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
        counters.enqueued()
        return slot.put(input)
    }

    /// True once for each key frame that a device shall make, however many ask for it.
    var takesKeyFrameRequest: Bool {
        guard settings.coded != nil, rendition.wantsKeyFrame else { return false }
        let now = MonotonicClock.now()
        return lock.withLock {
            guard now >= nextDeviceKeyFrame else { return false }
            nextDeviceKeyFrame = now + SessionLimits.keyFrameInterval
            return true
        }
    }

    /// Waits until the encoder has taken the last picture; false after `deadline`.
    func waitForRoom(until deadline: MediaTimestamp) -> Bool { slot.waitUntilTaken(until: deadline) }

    func requestKeyFrame() { rendition.requestKeyFrame() }
    func add(_ subscriber: any MediaSubscriber) { rendition.add(subscriber) }
    func remove(_ subscriber: any MediaSubscriber) { rendition.remove(subscriber) }

    var statistics: ProducerStatistics {
        var result = counters.statistics
        result.framesReplaced = slot.droppedCount
        return result
    }

    // MARK: Encoding thread

    private func run() {
        while let input = slot.take() {
            if hasFailed { continue }
            do throws(GantryError) {
                try rendition.handle(input)
            } catch {
                hasFailed = true
                rendition.reset()
                events(.failed(error))
            }
        }
        rendition.reset()
    }
}
