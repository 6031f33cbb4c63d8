import GantryCore
import GantryMedia

/// What a meter with peak hold shows of a `LevelMeter`. Belongs to the thread of the window; the meter is fed by that of the sound.
struct HeldLevels {
    /// Of one channel, in decibels below full scale: −60…0.
    struct Level: Equatable {
        /// Falls by 20 dB a second.
        var peak = HeldLevels.floor
        /// The highest of the last second and a half.
        var hold = HeldLevels.floor
    }

    static let floor: Float = -60
    private static let fall: Float = 20
    private static let holdTime = MediaDuration.milliseconds(1500)

    private let meter: LevelMeter
    private var hasSound = false
    private var levels = (left: Level(), right: Level())
    private var heldSince = (left: MediaTimestamp(microseconds: 0), right: MediaTimestamp(microseconds: 0))
    private var readAt: MediaTimestamp?

    init(_ meter: LevelMeter) { self.meter = meter }

    /// What is to be drawn now; nil when no sound has ever come.
    mutating func read(at now: MediaTimestamp) -> (left: Level, right: Level)? {
        let loudest = meter.take()
        if loudest != nil { hasSound = true }
        guard hasSound else { return nil }
        let elapsed = readAt.map { Float(max(0, min(10, (now - $0).seconds))) } ?? 0
        readAt = now
        Self.follow(&levels.left, &heldSince.left, loudest?.first, elapsed, now)
        Self.follow(&levels.right, &heldSince.right, loudest?.last, elapsed, now)
        return levels
    }

    private static func follow(
        _ level: inout Level, _ heldSince: inout MediaTimestamp, _ decibels: Double?, _ elapsed: Float,
        _ now: MediaTimestamp
    ) {
        // What is beyond all numbers (a peer's sound may be anything) is silence.
        let loudness = decibels.map { $0.isFinite ? max(floor, min(0, Float($0))) : floor } ?? floor
        level.peak = max(loudness, floor, level.peak - fall * elapsed)
        if loudness >= level.hold || now - heldSince > holdTime {
            level.hold = level.peak
            heldSince = now
        }
    }
}
