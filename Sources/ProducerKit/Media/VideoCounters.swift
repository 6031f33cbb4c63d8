import GantryCore
import GantryPlatform

/// What all encodes of the picture have done together. Any thread.
final class VideoCounters: @unchecked Sendable {  // All state is guarded by `lock`.
    private let lock = Lock()
    private var counts = ProducerStatistics()
    private var captureTimes = SecondWindow()
    private var encodeTimes = PercentileWindow(capacity: 512)

    func enqueued() { lock.withLock { counts.framesEnqueued += 1 } }
    func skipped() { lock.withLock { counts.framesSkipped += 1 } }

    /// - Parameters:
    ///   - waited: from capture until the encoder took it.
    ///   - isTaken: some receiver has it.
    func encoded(bytes: Int, in time: MediaDuration, waited: MediaDuration, at now: MediaTimestamp, isTaken: Bool) {
        lock.withLock {
            captureTimes.add(waited, at: now)
            encodeTimes.add(time)
            if isTaken {
                counts.framesSent += 1
                counts.videoBytes += bytes
            } else {
                counts.framesSkipped += 1
            }
        }
    }

    var videoBytes: Int { lock.withLock { counts.videoBytes } }

    var statistics: ProducerStatistics {
        lock.withLock {
            var result = counts
            let times = encodeTimes.percentiles()
            result.encodeMicrosecondsP50 = Int(times.p50)
            result.encodeMicrosecondsP95 = Int(times.p95)
            result.captureTime = .init(captureTimes.percentiles(at: MonotonicClock.now()))
            return result
        }
    }
}
