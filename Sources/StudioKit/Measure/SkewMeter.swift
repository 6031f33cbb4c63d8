import GantryCore
import GantryMedia
import GantryPlatform

/// Measures by content how far sound and picture of the test pattern are apart: the presentation time of each click
/// against that of the picture that carries the flash of the same second.
///
/// Positive: the sound comes late. Of each pair it also tells how far apart the two were at the outputs (`Pair.apart`).
package final class SkewMeter: VideoOutput, AudioOutput, @unchecked Sendable {  // All state is guarded by `lock`.
    /// A click and the flash of the same second.
    package struct Pair: Sendable {
        /// The flash, on the producer's clock.
        package var flash: MediaTimestamp
        /// How much later the click is by the stamps: what a recording has.
        package var skew: MediaDuration
        /// How much later the click was given to the outputs than the flash: what is seen and heard where nothing waits behind them.
        package var apart: MediaDuration
    }

    private struct Mark {
        var stamp: MediaTimestamp
        /// When the outputs had it, on our clock.
        var output: MediaTimestamp
    }

    /// Marks of a kind that wait for a partner.
    private static let waiting = 4
    private let now: @Sendable () -> MediaTimestamp
    private let paired: @Sendable (Pair) -> Void
    private let lock = Lock()
    private var detector = ClickDetector()
    private var clicks: [Mark] = []
    private var flashes: [Mark] = []
    private var lastWasFlash = false
    private var window = PercentileWindow(capacity: 256)

    /// - Parameters:
    ///   - now: our clock.
    ///   - paired: gets each pair, on a decoding thread; returns at once.
    package init(
        now: @escaping @Sendable () -> MediaTimestamp = { MonotonicClock.now() },
        paired: @escaping @Sendable (Pair) -> Void = { _ in }
    ) {
        self.now = now
        self.paired = paired
    }

    /// What is live is measured.
    package var followsReplay: Bool { false }

    package var returnsAtOnce: Bool { true }
    package func receive(_ frame: VideoFrame) {
        guard TimeCode.read(from: frame.picture) != nil else { return }
        let isFlash = FlashDetector.isLit(in: frame.picture)
        let output = now()
        tell(
            lock.withLock {
                defer { lastWasFlash = isFlash }
                guard isFlash, !lastWasFlash else { return nil }
                Self.append(Mark(stamp: frame.presentationTime, output: output), to: &flashes)
                return match()
            })
    }

    package func receive(_ frame: AudioFrame) {
        let output = now()
        tell(
            lock.withLock {
                guard let time = detector.feed(frame.block) else { return nil }
                // Whoever plays it begins with the first sample.
                Self.append(Mark(stamp: time, output: output + (time - frame.presentationTime)), to: &clicks)
                return match()
            })
    }

    package func videoEnded() {}
    package func audioEnded() {}

    /// Median skew in microseconds, and of how many seconds; nil before the first pair.
    package var median: (microseconds: Int, count: Int)? {
        lock.withLock { window.count > 0 ? (Int(window.percentiles().p50), window.count) : nil }
    }

    private func tell(_ pair: Pair?) { if let pair { paired(pair) } }

    private static func append(_ mark: Mark, to marks: inout [Mark]) {
        if marks.count >= Self.waiting { marks.removeFirst() }
        marks.append(mark)
    }

    /// A click and a flash within half a second belong together; what has no partner is thrown away. One mark makes one pair
    /// at most.
    private func match() -> Pair? {
        while let click = clicks.first, let flash = flashes.first {
            let skew = (click.stamp - flash.stamp).microseconds
            if skew > 500_000 {
                flashes.removeFirst()
            } else if skew < -500_000 {
                clicks.removeFirst()
            } else {
                window.add(Int32(clamping: skew))
                clicks.removeFirst()
                flashes.removeFirst()
                return Pair(
                    flash: flash.stamp, skew: MediaDuration(microseconds: skew), apart: click.output - flash.output)
            }
        }
        return nil
    }
}
