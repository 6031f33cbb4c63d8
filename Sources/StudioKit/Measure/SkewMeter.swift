import GantryCore
import GantryMedia
import GantryPlatform

/// Measures by content how far sound and picture of the test pattern are apart: the presentation time of each click
/// against that of the picture that carries the flash of the same second.
///
/// Positive: the sound comes late.
package final class SkewMeter: VideoOutput, AudioOutput, @unchecked Sendable {  // All state is guarded by `lock`.
    /// Marks of a kind that wait for a partner.
    private static let waiting = 4
    private let lock = Lock()
    private var detector = ClickDetector()
    private var clicks: [MediaTimestamp] = []
    private var flashes: [MediaTimestamp] = []
    private var lastWasFlash = false
    private var window = PercentileWindow(capacity: 256)

    package init() {}

    /// What is live is measured.
    package var followsReplay: Bool { false }

    package var returnsAtOnce: Bool { true }
    package func receive(_ frame: VideoFrame) {
        guard TimeCode.read(from: frame.picture) != nil else { return }
        let isFlash = FlashDetector.isLit(in: frame.picture)
        lock.withLock {
            if isFlash && !lastWasFlash { note(flash: frame.presentationTime) }
            lastWasFlash = isFlash
        }
    }

    package func receive(_ frame: AudioFrame) {
        lock.withLock {
            if let time = detector.feed(frame.block) { note(click: time) }
        }
    }

    package func videoEnded() {}
    package func audioEnded() {}

    /// Median skew in microseconds, and of how many seconds; nil before the first pair.
    package var median: (microseconds: Int, count: Int)? {
        lock.withLock { window.count > 0 ? (Int(window.percentiles().p50), window.count) : nil }
    }

    private func note(click time: MediaTimestamp) {
        if clicks.count >= Self.waiting { clicks.removeFirst() }
        clicks.append(time)
        match()
    }

    private func note(flash time: MediaTimestamp) {
        if flashes.count >= Self.waiting { flashes.removeFirst() }
        flashes.append(time)
        match()
    }

    /// A click and a flash within half a second belong together; what has no partner is thrown away.
    private func match() {
        while let click = clicks.first, let flash = flashes.first {
            let skew = (click - flash).microseconds
            if skew > 500_000 {
                flashes.removeFirst()
            } else if skew < -500_000 {
                clicks.removeFirst()
            } else {
                window.add(Int32(clamping: skew))
                clicks.removeFirst()
                flashes.removeFirst()
            }
        }
    }
}
