import GantryCore
import GantryMedia
import GantryPlatform

/// Reads the time code out of decoded pictures: how long from capture to here, which frame numbers are missing.
///
/// Only for a producer on the same machine (or with synchronised monotonic clocks): the code holds the producer's
/// `CLOCK_MONOTONIC`. Pictures without a code are passed over.
package final class LatencyMeter: VideoOutput, @unchecked Sendable {  // All state is guarded by `lock`.
    private let lock = Lock()
    private var window = PercentileWindow(capacity: 8192)
    private var firstNumber: UInt32?
    private var lastNumber: UInt32 = 0
    private var read = 0
    private var missing = 0

    package init() {}

    /// What is live is measured.
    package var followsReplay: Bool { false }

    package struct Result: Sendable {
        package var framesRead = 0
        package var framesMissing = 0
        /// Microseconds.
        package var p50 = 0
        package var p95 = 0
        package var p99 = 0
        package var maximum = 0
    }

    package var returnsAtOnce: Bool { true }
    package func receive(_ frame: VideoFrame) {
        let now = MonotonicClock.now()
        guard let code = TimeCode.read(from: frame.picture) else { return }
        lock.withLock {
            window.add(Int32(clamping: (now - code.capture).microseconds))
            if firstNumber == nil { firstNumber = code.frameNumber }
            let step = code.frameNumber &- lastNumber
            if read > 0 && step > 1 && step < 1 << 23 { missing += Int(step) - 1 }
            lastNumber = code.frameNumber
            read += 1
        }
    }

    package func videoEnded() {}

    /// Nil when no picture had a code.
    package var result: Result? {
        lock.withLock {
            guard read > 0 else { return nil }
            let times = window.percentiles()
            return Result(
                framesRead: read, framesMissing: missing, p50: Int(times.p50), p95: Int(times.p95),
                p99: Int(times.p99), maximum: Int(times.maximum))
        }
    }
}
