package import GantryCore
package import GantryPlatform

/// Keeps a device filled to a level, 5 ms at a time, from a `SoundPlayout`.
///
/// The level is chosen here, not by the size of the device's buffer, which may be much larger than the delay that is
/// wanted. The device is woken up to by the clock: its own wake-ups come once a period, which may be long. One thread;
/// allocates only in `init`.
package final class SoundFeeder<Device: SoundDevice> {
    /// Samples of each channel that are made at a time: 5 ms.
    private static var chunk: Int { 240 }
    /// A device that takes nothing for so long stands still.
    private static var patience: MediaDuration { .seconds(5) }
    /// The fastest clock that a device may have: 0.5 %. Crystals are off by 0.02 %.
    private static var fastest: Double { 1.005 }
    /// So many samples a device may take earlier than they can have been played: a sound server takes large pieces.
    private static var allowance: Double { 24_000 }

    private let device: Device
    private let name: String
    /// Guards the playout; not held while the device is called.
    private let lock: Lock
    /// Samples of each channel that the device is to hold.
    private let level: Int
    /// One chunk.
    private let samples: UnsafeMutableBufferPointer<Float>
    /// Where the part of it begins that the device has not taken yet; `chunk` when it has all.
    private var taken = SoundFeeder.chunk
    /// Written since the device was made ready; it starts by itself.
    private var primed = 0
    private var hasRun = false
    private var lastTaken: MediaTimestamp?
    /// What cannot have been played yet, whatever the device says: ALSA's "null" takes all at once.
    private var unheard = 0.0
    /// False once it has taken what it cannot have played: from then on it plays by our clock.
    private var hasClock = true
    private var lastTurn: MediaTimestamp?

    /// What the device is to hold for a delay of `target`: 2/5 of it. The rest lets packets be late.
    package static func level(for target: MediaDuration) -> Int { max(2 * chunk, SoundPlayout.samples(target) * 2 / 5) }

    package init(_ device: Device, name: String, target: MediaDuration, lock: Lock) {
        self.lock = lock
        self.device = device
        self.name = name
        let least = 2 * device.periodFrames
        level = max(Self.chunk, min(device.bufferFrames, max(least, Self.level(for: target))))
        samples = .allocate(capacity: Self.chunk * AudioBlock.channels)
        samples.initialize(repeating: 0)
    }

    deinit { samples.deallocate() }

    /// Fills the device up. Returns for how long it has enough.
    ///
    /// - Throws: what has happened to the device; then it is of no use any more.
    package func turn(_ playout: SoundPlayout, now: MediaTimestamp) throws(GantryError) -> MediaDuration {
        let position = device.position()
        if position != nil { hasRun = true }
        // A device that has run and stands is empty: the next write says why.
        let unplayed = hasRun ? 0 : primed
        var queued = position.map { device.bufferFrames - $0.available } ?? unplayed
        var delay = position?.delay ?? unplayed
        let time = position?.time ?? now
        queued = max(queued, paced(queued, now))
        // Held since before the position was taken.
        if let waiting = lastTaken, now - waiting > Self.patience { throw stands() }
        if lastTaken == nil { lastTaken = now }
        while queued + Self.chunk <= level {
            if taken == Self.chunk {
                guard let base = samples.baseAddress else { return .zero }
                let ahead = delay
                try lock.withLock { () throws(GantryError) in
                    try playout.render(base, Self.chunk, delay: ahead, now: time)
                }
                taken = 0
            }
            let rest = UnsafeBufferPointer(rebasing: samples[(taken * AudioBlock.channels)...])
            switch try device.write(from: rest) {
            case .frames(let count):
                let count = max(0, min(count, Self.chunk - taken))
                taken += count
                queued += count
                delay += count
                unheard += Double(count)
                primed += count
                lastTaken = now
            case .nothing: return .milliseconds(5)
            case .recovered:
                taken = Self.chunk
                primed = 0
                unheard = 0
                hasRun = false
                lock.withLock { playout.deviceRanDry() }
                return .zero
            }
        }
        return SoundPlayout.duration(Double(max(1, queued + Self.chunk - level)))
    }

    /// The least that the device holds, as far as the clock can tell.
    private func paced(_ queued: Int, _ now: MediaTimestamp) -> Int {
        let elapsed = Double(max(0, (now - (lastTurn ?? now)).microseconds)) * Double(AudioBlock.sampleRate) / 1_000_000
        lastTurn = now
        unheard = max(Double(queued), unheard - elapsed * (hasClock ? Self.fastest : 1))
        let held = unheard - Self.allowance
        if held > Double(queued) { hasClock = false }
        return Int(max(0, min(held, Double(level))).rounded(.up))
    }

    private func stands() -> GantryError {
        GantryError(
            .outputLost,
            "The sound device \(name.prefix(80)) stands still. Unplug it and plug it in again, or play into another one."
        )
    }
}
