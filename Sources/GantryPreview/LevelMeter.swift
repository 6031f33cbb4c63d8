import GantryCore
import GantryPlatform
import Glibc

/// The level of the sound that comes: what meters with peak hold show. Written by the thread of the sound, read by that of the
/// window.
final class LevelMeter: @unchecked Sendable {  // Everything is guarded by `lock`.
    /// Of one channel, in decibels below full scale: −60…0.
    struct Level: Equatable {
        /// Falls by 20 dB a second.
        var peak = LevelMeter.floor
        /// The highest of the last second and a half.
        var hold = LevelMeter.floor
    }

    static let floor: Float = -60
    private static let fall: Float = 20
    private static let holdTime = MediaDuration.milliseconds(1500)

    private let lock = Lock()
    /// The largest sample since it was read, of each channel.
    private var largest: (left: Float, right: Float) = (0, 0)
    private var hasSound = false

    // Of the reader.
    private var levels = (left: Level(), right: Level())
    private var heldSince = (left: MediaTimestamp(microseconds: 0), right: MediaTimestamp(microseconds: 0))
    private var readAt: MediaTimestamp?

    /// Interleaved samples, left then right.
    func add(_ samples: UnsafeBufferPointer<Float>) {
        var (left, right): (Float, Float) = (0, 0)
        var index = 0
        while index + 1 < samples.count {
            left = max(left, abs(samples[index]))
            right = max(right, abs(samples[index + 1]))
            index += 2
        }
        lock.withLock {
            largest = (max(largest.left, left), max(largest.right, right))
            hasSound = true
        }
    }

    /// What is to be drawn now; nil when no sound has ever come. For one thread.
    func read(at now: MediaTimestamp) -> (left: Level, right: Level)? {
        lock.withLock {
            guard hasSound else { return nil }
            let elapsed = readAt.map { Float(max(0, min(10, (now - $0).seconds))) } ?? 0
            readAt = now
            Self.follow(&levels.left, &heldSince.left, largest.left, elapsed, now)
            Self.follow(&levels.right, &heldSince.right, largest.right, elapsed, now)
            largest = (0, 0)
            return levels
        }
    }

    private static func follow(
        _ level: inout Level, _ heldSince: inout MediaTimestamp, _ sample: Float, _ elapsed: Float,
        _ now: MediaTimestamp
    ) {
        // What is no number (a peer's sound may be anything) is silence.
        let loudness = sample > 0 && sample.isFinite ? max(floor, min(0, 20 * log10f(sample))) : floor
        level.peak = max(loudness, floor, level.peak - fall * elapsed)
        if loudness >= level.hold || now - heldSince > holdTime {
            level.hold = level.peak
            heldSince = now
        }
    }
}
