/// Holds the delay of played sound at its target by a small change of the speed at which it is played.
///
/// Two quartz clocks differ: that which paces the sound at the producer, and that of the card which plays it here. The
/// error (how much later than it should the sound is heard) grows by that difference. Each second the servo is told the
/// error and says how much faster to play:
///
///     faster = error / spread + Σ error / 1024
///
/// The sum learns the difference of the clocks, so that the error settles at 0 and the speed then no longer changes (a
/// servo without it swings between two bounds for ever). `spread` is 16 s while the error is small: noise of the
/// measurement hardly reaches the pitch. From ±4 ms on it is 4 s, until ±1 ms. Both loops are damped: with a gain of
/// 1/16 for the error, (1/16)²/4 = 1/1024 for the sum is the critical case. 200 ppm that begin at once cost
/// 200e-6 × 32 s / e = 2.4 ms at most.
///
/// What is beyond ±20 ms is no drift: the way of the packets has changed, or something has stood still. Then the sound
/// is put in its place at once. Owned by one thread; allocates nothing.
package struct DriftServo: Sendable {
    package enum Advice: Hashable, Sendable {
        /// Play so much faster (1 is the given speed).
        case speed(Double)
        /// Leave sound out, or pause, so that the rest is in its place.
        case realign
    }

    /// The most that the speed differs from 1. Half a percent of pitch (9 cents) is not heard.
    package static let largestCorrection = 0.02
    /// Beyond that the sound is moved at once.
    package static let largestError = MediaDuration.milliseconds(20)
    /// The largest difference of clocks that is learned: ten times what two bad ones have.
    private static let largestDrift = 0.002
    private static let hurriesFrom = MediaDuration.milliseconds(4)
    private static let hurriesUntil = MediaDuration.milliseconds(1)

    /// How much faster the sound is to be played now.
    package private(set) var speed = 1.0
    private var drift = 0.0
    private var isHurrying = false

    package init() {}

    /// By how much the given speed is changed, in parts per million; positive: faster.
    package var correctionPartsPerMillion: Double { (speed - 1) * 1_000_000 }

    /// - Parameters:
    ///   - error: the mean of the time since the last call; positive: the sound is late.
    ///   - elapsed: that time; taken as 2 s where it is longer.
    package mutating func update(error: MediaDuration, elapsed: MediaDuration) -> Advice {
        let size = MediaDuration(microseconds: Int64(clamping: error.microseconds.magnitude))
        guard size <= Self.largestError else {
            realigned()
            return .realign
        }
        if size >= Self.hurriesFrom { isHurrying = true }
        if size <= Self.hurriesUntil { isHurrying = false }
        let seconds = max(0, min(2, elapsed.seconds))
        // A large error is an event, and says little of the clocks.
        let learned = max(-Self.hurriesFrom.seconds, min(Self.hurriesFrom.seconds, error.seconds))
        drift = max(-Self.largestDrift, min(Self.largestDrift, drift + learned * seconds / 1024))
        let change = error.seconds / (isHurrying ? 4 : 16) + drift
        speed = 1 + max(-Self.largestCorrection, min(Self.largestCorrection, change))
        return .speed(speed)
    }

    /// The sound is in its place again: only what was learned of the clocks counts.
    package mutating func realigned() {
        isHurrying = false
        speed = 1 + drift
    }
}
