import GantryCore
import GantryMedia
import GantryPlatform

/// Decodes sound as it comes and gives it to all outputs. One thread, "audio-decode".
final class AudioReceiver: @unchecked Sendable {  // As each property says; the decoder: decoding thread.
    struct Counters {
        var decodedPackets = 0
        var concealedPackets = 0
        var dropped = 0
        /// Capture of the first sample to decoded, in microseconds.
        var latency = PercentileWindow.Percentiles()
    }

    /// One second of 10 ms packets.
    private let queue = BoundedQueue<MediaPacket>(capacity: 100)
    private let lock = Lock()
    // Guarded by `lock`.
    private var counters = Counters()
    private var latency = PercentileWindow(capacity: 1024)
    /// Held while somebody reads the statistics; `lock` is then held for the copying only.
    private let reading = Lock()
    /// Guarded by `reading`.
    private var latencyRead = PercentileWindow(capacity: 1024)
    private let outputs: OutputSwitch
    private let clockOffset: @Sendable () -> Int64
    private let failed: @Sendable (GantryError) -> Void
    private var thread: NamedThread?

    init(
        outputs: OutputSwitch, clockOffset: @escaping @Sendable () -> Int64,
        failed: @escaping @Sendable (GantryError) -> Void
    ) {
        self.outputs = outputs
        self.clockOffset = clockOffset
        self.failed = failed
    }

    func start() throws(GantryError) {
        thread = try NamedThread("audio-decode", urgency: .sound) { [self] in run() }
    }

    /// Decodes what waits, then ends the thread.
    func stop() {
        queue.close()
        thread?.join()
        thread = nil
    }

    /// From the I/O thread.
    func enqueue(_ packet: MediaPacket) { queue.pushDroppingOldest(packet) }

    /// Packets that were let go so far. Any thread.
    var droppedCount: Int { queue.droppedCount }

    var statistics: Counters {
        reading.withLock {
            var result = lock.withLock {
                latencyRead.copy(latency)
                return counters
            }
            result.dropped = queue.droppedCount
            result.latency = latencyRead.percentiles()
            return result
        }
    }

    private func run() {
        do throws(GantryError) {
            let decoder = try OpusAudioDecoder()
            while let packet = queue.pop() {
                decoder.decode(packet) { block in
                    outputs.live(AudioFrame(block))
                }
                let elapsed = (MonotonicClock.now() - packet.header.captureTime).microseconds &+ clockOffset()
                lock.withLock {
                    counters.decodedPackets += 1
                    counters.concealedPackets = decoder.concealedCount
                    latency.add(Int32(clamping: elapsed))
                }
            }
        } catch {
            failed(error)
        }
    }
}
