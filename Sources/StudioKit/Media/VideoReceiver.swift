import GantryCore
import GantryMedia
import GantryPlatform

/// Decodes pictures as they come and shows each to all outputs at once.
///
/// One thread, "video-decode". Packets wait in a short queue; when the decoder is that far behind, all that waits is
/// let go and a key frame is asked for, so delay never grows.
final class VideoReceiver: @unchecked Sendable {  // As each property says; the decoder: decoding thread.
    struct Counters {
        var decoded = 0
        var damaged = 0
        /// Let go because decoding was behind.
        var dropped = 0
        /// Capture to decoded, in microseconds, on this machine's clock.
        var latency = PercentileWindow.Percentiles()
        /// Arrival to decoded, in microseconds.
        var decodeTime = PercentileWindow.Percentiles()
        var width = 0
        var height = 0
        var frameRate = FrameRate.fps30
    }

    private let codec: MediaCodec
    private let queue = BoundedQueue<MediaPacket>(capacity: 8)
    private let lock = Lock()
    // Guarded by `lock`.
    private var counters = Counters()
    private var latency = PercentileWindow(capacity: 8192)
    private var decodeTime = PercentileWindow(capacity: 512)
    private let outputs: OutputSwitch
    /// Held while somebody reads the statistics; `lock` is then held for the copying only.
    private let reading = Lock()
    // Guarded by `reading`.
    private var latencyRead = PercentileWindow(capacity: 8192)
    private var decodeTimeRead = PercentileWindow(capacity: 512)
    private let needsKeyFrame: @Sendable () -> Void
    private let decoded: @Sendable () -> Void
    private let failed: @Sendable (GantryError) -> Void
    /// Producer's clock minus ours, in microseconds.
    private let clockOffset: @Sendable () -> Int64
    private var thread: NamedThread?

    init(
        codec: MediaCodec, outputs: OutputSwitch, clockOffset: @escaping @Sendable () -> Int64,
        needsKeyFrame: @escaping @Sendable () -> Void, decoded: @escaping @Sendable () -> Void,
        failed: @escaping @Sendable (GantryError) -> Void
    ) {
        self.codec = codec
        self.outputs = outputs
        self.clockOffset = clockOffset
        self.needsKeyFrame = needsKeyFrame
        self.decoded = decoded
        self.failed = failed
    }

    func start() throws(GantryError) {
        thread = try NamedThread("video-decode", urgency: .computing) { [self] in run() }
    }

    /// Decodes what waits, then ends the thread.
    func stop() {
        queue.close()
        thread?.join()
        thread = nil
    }

    /// From the I/O thread.
    func enqueue(_ packet: MediaPacket) {
        if queue.push(packet) { return }
        let waiting = queue.countInside
        queue.removeAll()
        lock.withLock { counters.dropped += waiting + 1 }
        needsKeyFrame()
    }

    /// Packets that were let go so far. Any thread.
    var droppedCount: Int { lock.withLock { counters.dropped } }

    /// From the I/O thread.
    func formatChanged(_ format: VideoStreamFormat) { lock.withLock { counters.frameRate = format.frameRate } }

    var statistics: Counters {
        reading.withLock {
            var result = lock.withLock {
                latencyRead.copy(latency)
                decodeTimeRead.copy(decodeTime)
                return counters
            }
            result.latency = latencyRead.percentiles()
            result.decodeTime = decodeTimeRead.percentiles()
            return result
        }
    }

    private func run() {
        do throws(GantryError) {
            let decoder = try VideoDecoder(codec: codec)
            while let packet = queue.pop() {
                try decode(packet, decoder)
            }
        } catch {
            failed(error)
        }
    }

    private func decode(_ packet: MediaPacket, _ decoder: VideoDecoder) throws(GantryError) {
        let picture = try decoder.decode(packet)
        let now = MonotonicClock.now()
        if picture == nil && decoder.needsKeyFrame { needsKeyFrame() }
        guard let picture else { return }
        let offset = clockOffset()
        let elapsed = (now - picture.captureTime).microseconds &+ offset
        let rate = lock.withLock {
            counters.decoded += 1
            counters.damaged = decoder.damagedCount
            latency.add(Int32(clamping: elapsed))
            decodeTime.add(Int32(clamping: (now - picture.arrivalTime).microseconds))
            counters.width = picture.width
            counters.height = picture.height
            return counters.frameRate
        }
        decoded()
        let frame = VideoFrame(
            picture, frameRate: rate, decodedTime: now, clockOffset: MediaDuration(microseconds: offset))
        outputs.live(frame)
    }
}
