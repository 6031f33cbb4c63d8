import GantryCore
import GantryMedia
import GantryPlatform

/// Decodes pictures as they come and shows each to all outputs at once.
///
/// One thread, "video-decode". Packets wait in a short queue; when the decoder is that far behind, all that waits is
/// let go and a key frame is asked for, so delay never grows.
///
/// Where nobody takes pictures there is neither thread nor decoder: packets are measured as they come.
final class VideoReceiver: @unchecked Sendable {  // As each property says; the decoder: decoding thread.
    struct Counters {
        var decoded = 0
        var damaged = 0
        /// Let go because decoding was behind.
        var dropped = 0
        /// Capture to decoded, or to arrival where nothing is decoded, in microseconds, on this machine's clock.
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
    private let decodes: Bool
    /// What decides about key frames where no decoder does; guarded by `lock`.
    private var lastSequence: UInt32?
    private var awaitsKeyFrame = true
    /// Held while somebody reads the statistics; `lock` is then held for the copying only.
    private let reading = Lock()
    // Guarded by `reading`.
    private var latencyRead = PercentileWindow(capacity: 8192)
    private var decodeTimeRead = PercentileWindow(capacity: 512)
    private let needsKeyFrame: @Sendable () -> Void
    private let came: @Sendable () -> Void
    private let failed: @Sendable (GantryError) -> Void
    /// Producer's clock minus ours, in microseconds.
    private let clockOffset: @Sendable () -> Int64
    private var thread: NamedThread?

    /// - Parameters:
    ///   - decodes: false: nobody takes pictures.
    ///   - came: there is another picture; on the thread that decodes, or delivers.
    init(
        codec: MediaCodec, outputs: OutputSwitch, decodes: Bool, clockOffset: @escaping @Sendable () -> Int64,
        needsKeyFrame: @escaping @Sendable () -> Void, came: @escaping @Sendable () -> Void,
        failed: @escaping @Sendable (GantryError) -> Void
    ) {
        self.codec = codec
        self.outputs = outputs
        self.decodes = decodes
        self.clockOffset = clockOffset
        self.needsKeyFrame = needsKeyFrame
        self.came = came
        self.failed = failed
    }

    func start() throws(GantryError) {
        guard decodes else { return }
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
        guard decodes else { return pass(packet) }
        if queue.push(packet) { return }
        let waiting = queue.countInside
        queue.removeAll()
        lock.withLock { counters.dropped += waiting + 1 }
        needsKeyFrame()
    }

    /// Asks for a key frame where a decoder would: after a gap, for what the outputs of packets make of it.
    private func pass(_ packet: MediaPacket) {
        let elapsed = (packet.arrivalTime - packet.header.captureTime).microseconds &+ clockOffset()
        let isUsable = lock.withLock {
            if let lastSequence, packet.header.sequence != lastSequence &+ 1 { awaitsKeyFrame = true }
            lastSequence = packet.header.sequence
            if packet.header.isKey || codec != .h264 { awaitsKeyFrame = false }
            latency.add(Int32(clamping: elapsed))
            return !awaitsKeyFrame
        }
        guard isUsable else { return needsKeyFrame() }
        came()
        outputs.passed(isVideo: true)
    }

    /// Packets that were let go so far. Any thread.
    var droppedCount: Int { lock.withLock { counters.dropped } }

    /// From the I/O thread.
    func formatChanged(_ format: VideoStreamFormat) {
        lock.withLock {
            counters.frameRate = format.frameRate
            if !decodes { (counters.width, counters.height) = (format.width, format.height) }
        }
    }

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
        came()
        let frame = VideoFrame(
            picture, frameRate: rate, decodedTime: now, clockOffset: MediaDuration(microseconds: offset))
        outputs.live(frame)
    }
}
