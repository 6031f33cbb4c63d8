import GantryCore
import GantryMedia
import GantryPlatform

/// Decodes sound as it comes and gives it to all outputs. One thread, "audio-decode"; none, and no decoder, where nobody takes
/// sound.
final class AudioReceiver: @unchecked Sendable {  // As each property says; the decoder: decoding thread.
    struct Counters {
        var decodedPackets = 0
        var concealedPackets = 0
        var dropped = 0
        /// Capture of the first sample to decoded, or to arrival where nothing is decoded, in microseconds.
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
    private let decodes: Bool
    private let clockOffset: @Sendable () -> Int64
    private let failed: @Sendable (GantryError) -> Void
    private var thread: NamedThread?

    /// - Parameter decodes: false: nobody takes sound.
    init(
        outputs: OutputSwitch, decodes: Bool, clockOffset: @escaping @Sendable () -> Int64,
        failed: @escaping @Sendable (GantryError) -> Void
    ) {
        self.outputs = outputs
        self.decodes = decodes
        self.clockOffset = clockOffset
        self.failed = failed
    }

    func start() throws(GantryError) {
        guard decodes else { return }
        thread = try NamedThread("audio-decode", urgency: .sound) { [self] in run() }
    }

    /// Decodes what waits, then ends the thread.
    func stop() {
        queue.close()
        thread?.join()
        thread = nil
    }

    /// From the I/O thread.
    func enqueue(_ packet: MediaPacket) {
        guard decodes else {
            note(packet, at: packet.arrivalTime)
            return outputs.passed(isVideo: false)
        }
        queue.pushDroppingOldest(packet)
    }

    private func note(_ packet: MediaPacket, at time: MediaTimestamp, concealed: Int? = nil) {
        let elapsed = (time - packet.header.captureTime).microseconds &+ clockOffset()
        lock.withLock {
            latency.add(Int32(clamping: elapsed))
            guard let concealed else { return }
            counters.decodedPackets += 1
            counters.concealedPackets = concealed
        }
    }

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
                note(packet, at: MonotonicClock.now(), concealed: decoder.concealedCount)
            }
        } catch {
            failed(error)
        }
    }
}
