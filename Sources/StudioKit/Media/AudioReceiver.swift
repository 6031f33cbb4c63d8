import GantryCore
import GantryMedia
import GantryPlatform

/// Decodes sound as it comes and gives it to all outputs. One thread, "audio-decode".
final class AudioReceiver: @unchecked Sendable {  // `counters` by `lock`; the decoder: decoding thread.
    struct Counters {
        var decodedPackets = 0
        var concealedPackets = 0
        var dropped = 0
        /// Capture of the first sample to decoded, in microseconds.
        var latency = PercentileWindow(capacity: 1024)
    }

    /// One second of 10 ms packets.
    private let queue = BoundedQueue<MediaPacket>(capacity: 100)
    private let lock = Lock()
    private var counters = Counters()
    private let outputs: [any AudioOutput]
    private let clockOffset: @Sendable () -> Int64
    private let failed: @Sendable (GantryError) -> Void
    private var thread: NamedThread?

    init(
        outputs: [any AudioOutput], clockOffset: @escaping @Sendable () -> Int64,
        failed: @escaping @Sendable (GantryError) -> Void
    ) {
        self.outputs = outputs
        self.clockOffset = clockOffset
        self.failed = failed
    }

    func start() throws(GantryError) {
        thread = try NamedThread("audio-decode") { [self] in run() }
    }

    /// Decodes what waits, then ends the thread.
    func stop() {
        queue.close()
        thread?.join()
        thread = nil
    }

    /// From the I/O thread.
    func enqueue(_ packet: MediaPacket) { queue.pushDroppingOldest(packet) }

    var statistics: Counters {
        lock.withLock {
            var result = counters
            result.dropped = queue.droppedCount
            return result
        }
    }

    private func run() {
        do throws(GantryError) {
            let decoder = try OpusAudioDecoder()
            while let packet = queue.pop() {
                decoder.decode(packet) { block in
                    let frame = AudioFrame(block)
                    for output in outputs { output.receive(frame) }
                }
                let latency = (MonotonicClock.now() - packet.header.captureTime).microseconds &+ clockOffset()
                lock.withLock {
                    counters.decodedPackets += 1
                    counters.concealedPackets = decoder.concealedCount
                    counters.latency.add(Int32(clamping: latency))
                }
            }
        } catch {
            failed(error)
        }
        for output in outputs { output.audioEnded() }
    }
}
