import GantryCore
import GantryMedia
import GantryPlatform

/// Where a picture spends its time from its capture until all outputs have it, over the last whole second.
///
/// The last of the picture outputs, so that it sees what the others cost.
package final class StageMeter: VideoOutput, @unchecked Sendable {  // Windows are guarded by `lock`.
    package struct Stages: Sendable, Equatable {
        /// Capture to the last byte's arrival, by the estimated clock: capturing, encoding, waiting, the network.
        package var transit = StudioStatistics.Percentiles()
        /// Arrival to decoded.
        package var decode = StudioStatistics.Percentiles()
        /// Decoded until every output has it.
        package var output = StudioStatistics.Percentiles()
        /// Capture until every output has it.
        package var total = StudioStatistics.Percentiles()
    }

    package var followsReplay: Bool { false }

    private let lock = Lock()
    private var transit = SecondWindow()
    private var decode = SecondWindow()
    private var output = SecondWindow()
    private var total = SecondWindow()

    package init() {}

    package var returnsAtOnce: Bool { true }
    package func receive(_ frame: VideoFrame) {
        let now = MonotonicClock.now()
        lock.withLock {
            transit.add((frame.arrivalTime - frame.captureTime) + frame.clockOffset, at: now)
            decode.add(frame.decodedTime - frame.arrivalTime, at: now)
            output.add(now - frame.decodedTime, at: now)
            total.add((now - frame.captureTime) + frame.clockOffset, at: now)
        }
    }

    package func videoEnded() {}

    package var lastSecond: Stages {
        lock.withLock {
            let now = MonotonicClock.now()
            return Stages(
                transit: .init(transit.percentiles(at: now)), decode: .init(decode.percentiles(at: now)),
                output: .init(output.percentiles(at: now)), total: .init(total.percentiles(at: now)))
        }
    }
}
