import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport

/// A sound card on a virtual clock. It plays what was written at its own rate, and gives every sample with its moment to
/// an ear. Dry, it stands, until it is made ready by the next write.
final class VirtualCard: SoundDevice {
    let periodFrames: Int
    let bufferFrames: Int
    /// Samples a second, really.
    var rate: Double
    /// The position that it tells moves in such steps.
    let step: Int
    /// What a sound server behind it holds.
    let latency: Int
    /// As ALSA's "null": what is written is gone at once.
    var takesAll = false
    /// All that was written, in samples of each channel.
    private(set) var written = 0
    /// True time in seconds.
    var now = 0.0
    let ear = Ear()
    var isLost = false
    private(set) var ranDry = 0
    private let startFrames: Int
    private var queue: [Float] = []
    private var head = 0
    private var isRunning = false
    private var isDry = false
    private var anchor = 0.0
    private var playedSinceAnchor = 0

    init(
        period: Int = 240, buffer: Int = 1920, start: Int = 960, rate: Double = 48_000, step: Int = 1, latency: Int = 0
    ) {
        (periodFrames, bufferFrames, startFrames) = (period, buffer, start)
        (self.rate, self.step, self.latency) = (rate, step, latency)
    }

    static let zero = 5_000_000_000.0
    static func stamp(_ seconds: Double) -> MediaTimestamp {
        MediaTimestamp(microseconds: Int64((seconds * 1_000_000 + zero).rounded()))
    }

    private var queued: Int { (queue.count - head) / 2 }

    private func advance() {
        guard isRunning else { return }
        let due = Int(((now - anchor) * rate).rounded(.up)) - playedSinceAnchor
        let count = max(0, min(due, queued))
        let time = anchor + Double(playedSinceAnchor + latency) / rate
        queue.withUnsafeBufferPointer { ear.hear($0[head..<(head + count * 2)], from: time, rate: rate) }
        head += count * 2
        playedSinceAnchor += count
        if due > count {
            isRunning = false
            isDry = true
            ranDry += 1
        }
        if head > 96_000 {
            queue.removeFirst(head)
            head = 0
        }
    }

    /// Its clock changes.
    func setRate(_ new: Double) {
        advance()
        anchor = now
        playedSinceAnchor = 0
        rate = new
    }

    func position() -> AlsaPCM.Position? {
        if takesAll { return .init(delay: 0, available: bufferFrames, time: Self.stamp(now)) }
        advance()
        guard isRunning else { return nil }
        let shown = min(bufferFrames, queued + playedSinceAnchor % step)
        return .init(delay: shown + latency, available: bufferFrames - shown, time: Self.stamp(now))
    }

    func write(from samples: UnsafeBufferPointer<Float>) throws(GantryError) -> AlsaPCM.Transfer {
        if isLost { throw GantryError(.outputLost, "gone") }
        written += samples.count / 2
        if takesAll { return .frames(samples.count / 2) }
        advance()
        if isDry {
            isDry = false
            queue.removeAll()
            head = 0
            return .recovered
        }
        let count = min(samples.count / 2, bufferFrames - queued)
        guard count > 0 else { return .nothing }
        queue.append(contentsOf: samples[..<(count * 2)])
        if !isRunning, queued >= startFrames {
            isRunning = true
            anchor = now
            playedSinceAnchor = 0
        }
        return .frames(count)
    }
}

/// Sound that tells its own time: 440 Hz left, and 1 Hz right, whose upward zero crossings are whole seconds of the stamps.
struct TellingSound {
    static let amplitude: Float = 0.5
    private let table: [Float]

    init() {
        var table: [Float] = []
        for index in 0..<48_000 {
            let phase = 2 * Double.pi * Double(index) / 48_000
            table.append(Self.amplitude * Float(sin(440 * phase)))
            table.append(Self.amplitude * Float(sin(phase)))
        }
        self.table = table
    }

    /// 10 ms, the `number`th.
    func fill(_ block: AudioBlock, _ number: Int) {
        let offset = number % 100 * 960
        for index in 0..<960 { block.samples[index] = table[offset + index] }
        block.count = 480
    }
}

/// Listens to a `VirtualCard` that plays `TellingSound`.
final class Ear {
    /// When whole seconds of the sound were heard.
    private(set) var seconds: [Double] = []
    /// Where the tone has a break, and how large a one.
    private(set) var breaks: [(time: Double, size: Float)] = []
    private(set) var loud = 0
    private var lastRight: Float = 0
    private var last: Float = 0
    private var beforeLast: Float = 0
    /// 440 Hz bends by amplitude × ω² at most, 0.0017.
    private static let bend: Float = 0.01
    private static let slope = TellingSound.amplitude * 2 * .pi / 48_000

    /// Left and right by turns.
    func hear(_ samples: Slice<UnsafeBufferPointer<Float>>, from start: Double, rate: Double) {
        let samples = UnsafeBufferPointer(rebasing: samples)
        var index = 0
        while index < samples.count {
            let (left, right) = (samples[index], samples[index + 1])
            let bend = left - 2 * last + beforeLast
            if bend > Self.bend || bend < -Self.bend {
                breaks.append((start + Double(index / 2) / rate, bend.magnitude))
            }
            if left > 0.3 { loud += 1 }
            (beforeLast, last) = (last, left)
            if right >= 0, lastRight < 0 {
                let rise = right - lastRight
                if rise > 0.8 * Self.slope, rise < 1.2 * Self.slope {
                    seconds.append(start + (Double(index / 2) - Double(right / rise)) / rate)
                }
            }
            lastRight = right
            index += 2
        }
    }
}

/// A producer, a network, a `SoundPlayout` and a card, on a virtual clock.
final class SoundStage {
    let card: VirtualCard
    let playout: SoundPlayout
    var ear: Ear { card.ear }
    let target: Double
    /// How much faster the producer's clock runs.
    var producerRate = 1.0
    /// Of the way, in seconds.
    var delay = 0.007
    var jitter = 0.0
    /// Packets that the network loses.
    var isLost: (Int) -> Bool = { _ in false }
    /// Packets that are sent are those of so many later; a multiple of 100.
    var shift = 0
    /// Until then, packets are held up.
    var jam = 0.0
    /// The player gets no processor until then.
    var sleepsUntil = 0.0
    private let feeder: SoundFeeder<VirtualCard>
    private let sound = TellingSound()
    private let block = AudioBlock(capacity: 480)
    private var random = SeededGenerator(seed: 11)
    private var number = 0
    private var lastArrival = 0.0
    private var nextArrival = 0.0
    private var nextTurn = 0.0

    init(_ card: VirtualCard, target: Double = 0.05) throws {
        self.card = card
        self.target = target
        let duration = MediaDuration(microseconds: Int64(target * 1_000_000))
        playout = try SoundPlayout(target: duration)
        feeder = SoundFeeder(card, name: "virtual", target: duration, lock: Lock())
        schedule()
    }

    private func schedule() {
        // A packet leaves when its last sample is there.
        let sent = Double(number + 1) * 0.01 / producerRate
        let late = jitter > 0 ? Double.random(in: 0...jitter, using: &random) : 0
        lastArrival = max(lastArrival, sent + delay + late, jam)
        nextArrival = lastArrival
    }

    /// Goes on until `end`, in seconds.
    func run(until end: Double, sends: Bool = true) throws {
        while card.now < end {
            let arrives = nextArrival <= nextTurn
            card.now = max(card.now, arrives ? nextArrival : nextTurn)
            if arrives {
                if sends && !isLost(number) {
                    sound.fill(block, number + shift)
                    block.presentationTime = MediaTimestamp(microseconds: 77_000_000 + Int64(number + shift) * 10_000)
                    playout.add(block, received: VirtualCard.stamp(card.now))
                }
                number += 1
                schedule()
            } else if sleepsUntil > card.now {
                nextTurn = sleepsUntil
            } else {
                let wait = try feeder.turn(playout, now: VirtualCard.stamp(card.now))
                // The clock of `poll`: milliseconds, rounded up.
                nextTurn = card.now + Double((wait.microseconds + 999) / 1000) / 1000
            }
        }
    }

    /// How late whole seconds were heard between two times, in seconds, against the usual way and the target.
    func skews(from start: Double = 0, to end: Double = .infinity) -> [Double] {
        ear.seconds.filter { start <= $0 && $0 < end }.map { time in
            let sent = ((time - target - delay) * producerRate).rounded() / producerRate
            return time - sent - delay - target
        }
    }
}
