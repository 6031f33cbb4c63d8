import GantryCore
import GantryPlatform

/// How long the pictures of one connection took, over the last whole second. Any thread.
final class ConnectionTimes: @unchecked Sendable {  // `ready` is guarded by `lock`.
    private let lock = Lock()
    private var ready = SecondWindow()

    /// A picture that is handed to the connection: `arrivalTime` is when it had been encoded.
    func handed(_ packet: MediaPacket) {
        lock.withLock { ready.add(packet.arrivalTime - packet.header.captureTime, at: packet.arrivalTime) }
    }

    /// From capture to encoded.
    func lastSecond(now: MediaTimestamp) -> PercentileWindow.Percentiles {
        lock.withLock { ready.percentiles(at: now) }
    }
}

extension ProducerStatistics.StageTime {
    init(_ times: PercentileWindow.Percentiles) {
        count = times.count
        p50 = Int(times.p50)
        p95 = Int(times.p95)
        p99 = Int(times.p99)
    }
}

extension Stats.StageTime {
    /// Nil without measurements.
    init?(_ stage: Stats.Stage, _ times: ProducerStatistics.StageTime) {
        guard times.count > 0 else { return nil }
        self.init(stage: stage, p50: UInt32(clamping: times.p50), p95: UInt32(clamping: times.p95))
    }

    /// Nil without measurements.
    init?(_ stage: Stats.Stage, _ times: PercentileWindow.Percentiles) {
        guard times.count > 0 else { return nil }
        self.init(stage: stage, p50: UInt32(clamping: times.p50), p95: UInt32(clamping: times.p95))
    }
}
