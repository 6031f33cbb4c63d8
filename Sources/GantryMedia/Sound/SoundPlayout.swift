package import GantryCore

/// Decides which sample is heard when: puts what comes from the network into what a sound device takes.
///
/// The sound of a packet is heard `target` after the packet usually comes (`ArrivalWindow`), whatever the device itself
/// holds. It begins exactly there; then a `DriftServo` keeps it there by playing a little faster or slower. Where nothing
/// has come, silence is played, and sound takes its place again when it comes. Samples are counted by stamps: a hole in
/// the stream is filled, so that what follows is not early.
///
/// No clock and no thread of its own: `SoundPlayer` guards it by a lock. Allocates only in `init`.
package final class SoundPlayout {
    private enum State {
        /// Silence until the first sample that waits is due.
        case waiting
        case playing
    }

    /// 5 ms to 1 s.
    package static let targets = MediaDuration.milliseconds(5)...MediaDuration.seconds(1)
    /// More than the device holds before a chunk, at least: that chunk, one packet of 10 ms, and 10 ms by which it may be
    /// late.
    private static let reserve = MediaDuration.milliseconds(25)
    /// Stamps of packets that follow each other may differ by that from what their lengths say.
    private static let stampNoise: Int64 = 5000
    /// A longer hole, or a longer way back, is another piece of sound.
    private static let longestHole: Int64 = 200_000
    /// How much may wait beyond the target.
    private static let surplus = MediaDuration.milliseconds(500)
    /// Silence of the source that is longer is a pause, or the end.
    private static let longestGap = MediaDuration.seconds(2)

    private let wish: MediaDuration
    private let ring: SampleRing
    private let resampler: Resampler
    private var target: MediaDuration
    private var arrivals = ArrivalWindow()
    private var servo = DriftServo()
    private var edge = SoundEdge()
    private var state = State.waiting
    /// Behind the last sample in the ring; nil before the first.
    private var end: MediaTimestamp?
    private var starvedAt: MediaTimestamp?
    private var window = PlayoutWindow()
    /// The most that the device held in the second before.
    private var lastLargestDelay = 0
    package private(set) var figures = SoundFigures()
    /// Nothing is heard, and all goes on in its place.
    package var isMuted = false
    /// Of the last sample: 0 or 1.
    private var gain: Float = 1

    /// - Parameter target: from a packet's arrival until its end is heard; clamped to `targets`.
    package init(target: MediaDuration) throws(GantryError) {
        wish = min(max(target, Self.targets.lowerBound), Self.targets.upperBound)
        self.target = wish
        ring = SampleRing(capacity: Self.samples(Self.targets.upperBound + Self.surplus + Self.surplus))
        resampler = try Resampler()
        figures.targetDelay = wish
    }

    // MARK: In

    /// `block` came at `received`, on the clock of `render`.
    package func add(_ block: AudioBlock, received: MediaTimestamp) {
        guard block.count > 0, block.count <= block.capacity, block.count <= ring.capacity,
            let samples = block.samples.baseAddress
        else { return }
        let start = block.presentationTime
        let blockEnd = start + Self.duration(Double(block.count))
        var skipped = 0
        if let end {
            let hole = (start - end).microseconds
            if hole.magnitude > Self.longestHole.magnitude {
                // Another piece of sound: what waits of the old one is over.
                begin()
                if hole < 0 { arrivals.removeAll() }
            } else if hole > Self.stampNoise {
                ring.appendHole(Self.samples(start - end))
            } else if hole < -Self.stampNoise {
                skipped = min(block.count, Self.samples(end - start))
            }
        }
        arrivals.add(stamp: blockEnd, received: received)
        guard skipped < block.count else { return }
        makeRoom(block.count - skipped)
        ring.append(samples + skipped * 2, block.count - skipped)
        end = blockEnd
    }

    /// Too much waits: the oldest goes, and the rest takes its place anew.
    private func makeRoom(_ count: Int) {
        let limit = min(ring.capacity, Self.samples(target + Self.surplus))
        let excess = ring.count + count - limit
        guard excess > 0 else { return }
        figures.samplesDropped += min(excess, ring.count)
        ring.skip(excess)
        realign()
    }

    private func begin() {
        ring.removeAll()
        realign()
    }

    // MARK: Changes

    /// What the device held was lost, or the way of the packets has changed: the sound takes its place anew.
    package func realign() {
        guard case .playing = state else { return }
        figures.realignments += 1
        stopPlaying()
        servo.realigned()
        resampler.setSpeed(servo.speed)
    }

    /// The device ran dry: that is heard.
    package func deviceRanDry() {
        if case .playing = state { figures.underruns += 1 }
        realign()
    }

    /// Another device, or the same one again: nothing of before is left. What was learned of its clock may still hold.
    package func restart() {
        ring.removeAll()
        end = nil
        arrivals.removeAll()
        realign()
        edge = SoundEdge()
        target = wish
        lastLargestDelay = 0
        starvedAt = nil
    }

    package func deviceLost() {
        figures.deviceLosses += 1
        restart()
    }

    private func stopPlaying() {
        state = .waiting
        edge.cut()
        // What it holds is lost: less than a millisecond is not heard, and the rest has to be made anew.
        resampler.reset()
        window = PlayoutWindow()
        lastLargestDelay = 0
        figures.isPlaying = false
        figures.heardAfterStamp = nil
    }

    // MARK: Out

    /// Until all that waits is heard, when `delay` samples are in the device.
    package func backlog(delay: Int) -> MediaDuration {
        Self.duration(Double(ring.count + Self.believable(delay)) + resampler.heldCount)
    }

    /// Makes the next `count` samples of each channel.
    ///
    /// - Parameters:
    ///   - delay: samples that the device plays before these.
    ///   - now: when that was so.
    package func render(_ output: UnsafeMutablePointer<Float>, _ count: Int, delay: Int, now: MediaTimestamp)
        throws(GantryError)
    {
        var done = 0
        let delay = Self.believable(delay)
        let heard = now + Self.duration(Double(delay))
        // A sound server may hold more than we would.
        if case .waiting = state { target = max(target, needed(for: delay)) }
        if case .playing = state { try measure(heard: heard, delay: delay, now: now) }
        while done < count {
            switch state {
            case .waiting:
                done += wait(output + done * 2, count - done, heard: heard + Self.duration(Double(done)), now: now)
            case .playing: done += try play(output + done * 2, count - done, now: now)
            }
        }
        applyGain(output, count)
    }

    /// Takes one chunk to change, so that it does not click.
    private func applyGain(_ output: UnsafeMutablePointer<Float>, _ count: Int) {
        let wanted: Float = isMuted ? 0 : 1
        guard count > 0, gain != 1 || wanted != 1 else { return }
        for index in 0..<count {
            let factor = gain + (wanted - gain) * Float(index + 1) / Float(count)
            output[index * 2] *= factor
            output[index * 2 + 1] *= factor
        }
        gain = wanted
    }

    /// Silence until sound is due; then `state` is `playing`.
    private func wait(_ output: UnsafeMutablePointer<Float>, _ count: Int, heard: MediaTimestamp, now: MediaTimestamp)
        -> Int
    {
        var silent = count
        if let end, ring.count > 0, let base = arrivals.base(at: now) {
            let wanted = heard - base - target
            var lead = (end - Self.duration(Double(ring.count)) - wanted).microseconds
            if lead < 0 {
                let late = Self.samples(MediaDuration(microseconds: 0 &- lead))
                figures.samplesDropped += max(0, min(late, ring.count))
                ring.skip(late)
                lead = 0
            }
            if ring.count > 0 {
                silent = min(count, Self.samples(MediaDuration(microseconds: lead)))
                if silent < count { startPlaying(now) }
            }
        }
        output.update(repeating: 0, count: silent * 2)
        if edge.isSinking { edge.apply(output, silent, isSound: false) }
        return silent
    }

    private func startPlaying(_ now: MediaTimestamp) {
        state = .playing
        if let starvedAt {
            figures.realignments += 1
            // It went on soon, so it was no pause: what was missing has been heard as a gap.
            if now - starvedAt < Self.longestGap { figures.underruns += 1 }
        }
        starvedAt = nil
        figures.isPlaying = true
        resampler.reset()
        window = PlayoutWindow()
    }

    private func play(_ output: UnsafeMutablePointer<Float>, _ count: Int, now: MediaTimestamp) throws(GantryError)
        -> Int
    {
        var made = 0
        while made < count {
            let waiting = ring.first
            let progress = try resampler.process(waiting.samples, waiting.count, into: output + made * 2, count - made)
            ring.skip(progress.used)
            made += progress.made
            if progress.made == 0 && progress.used == 0 { break }
        }
        edge.apply(output, made, isSound: true)
        if made < count {
            starvedAt = now
            // Nothing is left, whatever the library held on to.
            ring.removeAll()
            stopPlaying()
            // Late packets say when others will come; those before the gap do not any more.
            arrivals.removeAll()
        }
        return made
    }

    // MARK: Keeping it in its place

    /// Once a chunk: where the sound is. Once a second: what to do about it.
    private func measure(heard: MediaTimestamp, delay: Int, now: MediaTimestamp) throws(GantryError) {
        guard let end else { return }
        let next = end - Self.duration(Double(ring.count) + resampler.heldCount)
        let offset = heard - next
        window.add(offset: offset, delay: delay, now: now)
        figures.heardAfterStamp = offset
        guard let mean = window.means(now: now), let base = arrivals.base(at: now) else { return }
        window = PlayoutWindow()
        // One odd value of the device's does not count.
        target = needed(for: lastLargestDelay == 0 ? mean.largestDelay : min(mean.largestDelay, lastLargestDelay))
        lastLargestDelay = mean.largestDelay
        let measured = mean.offset - base
        let error = measured - target
        figures.delay = measured
        figures.targetDelay = target
        figures.deviation = error
        if error.microseconds.magnitude > figures.largestDeviation.microseconds.magnitude {
            figures.largestDeviation = error
        }
        switch servo.update(error: error, elapsed: mean.elapsed) {
        case .speed(let speed): resampler.setSpeed(speed)
        case .realign: realign()
        }
        figures.correctionPartsPerMillion = servo.correctionPartsPerMillion
    }

    /// The target where the device holds `delay` samples.
    private func needed(for delay: Int) -> MediaDuration {
        min(max(wish, Self.duration(Double(delay)) + Self.reserve), Self.targets.upperBound)
    }

    /// Whatever a device tells: at most 2 s.
    private static func believable(_ delay: Int) -> Int { max(0, min(2 * AudioBlock.sampleRate, delay)) }

    // MARK: Units

    static func samples(_ duration: MediaDuration) -> Int {
        let limited = max(-3_600_000_000, min(3_600_000_000, duration.microseconds))
        return Int((limited * Int64(AudioBlock.sampleRate) + 500_000) / 1_000_000)
    }

    static func duration(_ samples: Double) -> MediaDuration {
        MediaDuration(microseconds: Int64((samples * 1_000_000 / Double(AudioBlock.sampleRate)).rounded()))
    }
}
