package import GantryCore

/// When the samples of a microphone were recorded, from readings of its clock that are not quite exact.
///
/// A reading says when the first sample of a block was recorded: the driver's stamp less what had been recorded since then. It
/// is off by the steps in which the device reports its position, and, where the driver does not stamp, by how late we
/// were. The samples themselves come evenly. So a loop of second order (F. Adriaensen, "Using a DLL to filter time",
/// 2005) runs along with the readings: it begins with a bandwidth of 1 Hz, which falls to 0.05 Hz within ten seconds. The
/// clock of a sound card that is fast or slow against ours is followed without a lasting error.
///
/// The rule for gaps:
/// - after `restart` (overrun, sleep, another device) the next reading is taken as it is;
/// - a reading that is more than 40 ms off is not believed, and the count goes on; after 25 in a row that are late, which is
///   more than a device's buffer holds, so that one stall does not make them, it is a gap, and the reading is taken as it is;
/// - stamps never go back and never overlap: readings that are early make the following blocks closer, by 2 % at most.
///
/// A pure value; times in microseconds.
package struct CaptureClock: Sendable {
    static let gap = 40_000.0
    static let gapReadings = 25
    /// In Hz.
    static let bandwidths = 0.05...1.0
    /// The fastest and slowest clock that is followed: 0.5 %. The worst crystals are off by 0.02 %.
    static let rateLimit = 0.005
    static let slewLimit = 0.02

    /// How often a gap was taken over, without `restart`.
    package private(set) var gapCount = 0

    /// The stamp that was given last.
    package private(set) var last = MediaTimestamp(microseconds: 0)

    private let rate: Double
    /// Zero of the numbers below: small numbers keep their fractions.
    private var origin = MediaTimestamp(microseconds: 0)
    /// Of the next sample, after `origin`; nil before the first block.
    private var next: Double?
    /// Of the sound card: 0.0001 is 100 ppm slow.
    private var slowness = 0.0
    /// Since the beginning or the last gap.
    private var elapsed = 0.0
    private var isRestarted = true
    private var lateInARow = 0

    package init(rate: Int = AudioBlock.sampleRate) { self.rate = Double(max(1, rate)) }

    /// What comes next does not follow what came before. What is known of the card's speed is kept.
    package mutating func restart() { isRestarted = true }

    /// The clock of another device.
    package mutating func forgetSpeed() {
        slowness = 0
        restart()
    }

    /// The stamp of a block's first sample.
    ///
    /// - Parameters:
    ///   - reading: when that sample was recorded, as far as the device can tell.
    ///   - count: of the block, in samples of each channel.
    package mutating func stamp(reading: MediaTimestamp, count: Int) -> MediaTimestamp {
        let length = Double(max(0, count)) * 1_000_000 / rate
        guard let expected = next else {
            origin = reading
            return begin(at: 0, length)
        }
        let error = Double((reading - origin).microseconds) - expected
        if isRestarted { return begin(at: expected + max(0, error), length) }
        if error.magnitude > Self.gap {
            lateInARow = error > 0 ? lateInARow + 1 : 0
            if lateInARow >= Self.gapReadings {
                gapCount &+= 1
                return begin(at: expected + error, length)
            }
            return advance(from: expected, by: length, correction: error > 0 ? 0 : -length)
        }
        lateInARow = 0
        return follow(error, from: expected, length)
    }

    private mutating func begin(at time: Double, _ length: Double) -> MediaTimestamp {
        isRestarted = false
        lateInARow = 0
        elapsed = 0
        return advance(from: time, by: length)
    }

    private mutating func follow(_ error: Double, from expected: Double, _ length: Double) -> MediaTimestamp {
        let bandwidth = min(max(0.5 / max(elapsed, 0.001), Self.bandwidths.lowerBound), Self.bandwidths.upperBound)
        let step = 2 * Double.pi * bandwidth * length / 1_000_000
        if length > 0 {
            slowness = min(max(slowness + step * step * error / length, -Self.rateLimit), Self.rateLimit)
        }
        return advance(from: expected, by: length, correction: 2.0.squareRoot() * step * error)
    }

    private mutating func advance(from time: Double, by length: Double, correction: Double = 0) -> MediaTimestamp {
        let limit = length * Self.slewLimit
        next = time + length * (1 + slowness) + min(max(correction, -limit), limit)
        elapsed += length / 1_000_000
        last = origin + .microseconds(Int64(exactly: time.rounded()) ?? 0)
        return last
    }
}
