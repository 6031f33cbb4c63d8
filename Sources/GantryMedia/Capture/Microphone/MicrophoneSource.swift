package import GantryCore
import GantryPlatform
import Glibc

/// A microphone as a source of sound. It comes back by itself: one that is unplugged, fails or falls silent is looked for
/// until it gives sound again. A card that has its number now, but is another one, is not taken.
///
/// Blocks last 10 ms; one is shorter where an overrun or the machine's sleep has cut it. Their stamps tell when their first
/// sample was recorded: see `CaptureClock`.
package final class MicrophoneSource: MediaSource, @unchecked Sendable {  // What varies belongs to the thread of `run`.
    /// Between two looks for a microphone that has gone.
    private static let pause = MediaDuration.milliseconds(250)
    /// After this a microphone counts as silent.
    private static let patience = MediaDuration.seconds(5)
    /// Stamps that are further ahead of now than this are none of a microphone.
    private static let lead = MediaDuration.seconds(1)
    private static let blockFrames = AlsaPCM.rate / 100
    /// As many looks in vain as this, and it counts as gone: a device that only starts anew does not.
    private static let looksUntilGone = 4
    private static let wish = AlsaPCM.Wish(keepsRate: true)

    package let info: MediaSourceInfo
    /// As it is given on the command line.
    package let name: String

    private let stopping: EventDescriptor
    private let blocks = ReusePool<AudioBlock>(capacity: 64) { AudioBlock(capacity: MicrophoneSource.blockFrames) }
    /// The card that it was at first, where the name means one.
    private let cardID: String?
    /// Open from `init` to `run`.
    private var first: AlsaPCM?
    private var clock = CaptureClock()
    /// Of the device that records, where its rate is not ours.
    private var converter: CaptureConverter?
    /// What is being filled, and when its first sample was recorded by the device's reckoning.
    private var block: AudioBlock?
    private var reading = MediaTimestamp(microseconds: 0)
    /// Filled, and thrown away, while all blocks of the pool are in use by others.
    private let spare = AudioBlock(capacity: MicrophoneSource.blockFrames)
    private var lostBlocks = 0
    /// Looks in vain since it gave sound last.
    private var looks = 0

    /// - Parameter name: such as `default`, `hw:1,0` or a card's name; nil takes that of `MicrophoneList.best`.
    /// - Throws: `sourceNotFound`, `sourceBusy`, `sourceNotPermitted`, `sourceUnreadable`, `sourceLost`.
    package init(name: String? = nil) throws(GantryError) {
        stopping = try EventDescriptor()
        let name: String = if let name { name } else { try MicrophoneList.best().name }
        let device = try AlsaPCM(name, .capture, wish: Self.wish)
        self.name = name
        cardID = AlsaName.namesHardware(name) ? device.cardID : nil
        let native = device.native
        info = MediaSourceInfo(
            audio: .init(
                sampleRate: native?.rate ?? AlsaPCM.rate, channels: native?.channels ?? AlsaPCM.channels,
                codec: native?.codec ?? "pcm"),
            isLive: true)
        first = device
        Log.debug(
            "microphone \(name): \(native.map { "\($0.rate) Hz, \($0.channels) channels, \($0.format)" } ?? "no card")"
                + ", period \(device.periodFrames), buffer \(device.bufferFrames)")
    }

    package func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
        var told: GantryError.Code?
        var next = first
        first = nil
        while !isStopped {
            do throws(GantryError) {
                let device = if let next { next } else { try reopened() }
                next = nil
                try record(device, &told, sink)
            } catch {
                if told == nil { Log.warning("\(reason(error)) It goes on when it is back.") }
                if told != error.code { Log.info("\(error)") }
                told = error.code
                looks += 1
                if looks == Self.looksUntilGone { sink.soundChanged(isThere: false) }
                wait()
                continue
            }
            waitUntilWanted(sink)
        }
        return .stopped
    }

    /// Nobody receives: others may have it.
    private func waitUntilWanted(_ sink: some MediaSink) {
        guard !isStopped else { return }
        Log.info("Nobody receives sound: the microphone \(name) is free until somebody does.")
        while !sink.wantsAudio, !stopping.wait(for: .milliseconds(50)) {}
    }

    package func stop() { stopping.signal() }

    private var isStopped: Bool { stopping.wait(for: .zero) }
    private func wait() { _ = stopping.wait(for: Self.pause) }

    private func reason(_ error: GantryError) -> String {
        switch error.code {
        case .sourceSilent: "The microphone \(name) gives no sound any more."
        case .sourceBusy: "Another program has taken the microphone \(name)."
        default: "The microphone \(name) was unplugged, or has failed."
        }
    }

    /// The same microphone, under its name or, where another card has that now, under its card's.
    private func reopened() throws(GantryError) -> AlsaPCM {
        clock.forgetSpeed()
        guard let cardID else { return try AlsaPCM(name, .capture, wish: Self.wish) }
        var failure: GantryError?
        for name in [name, AlsaName.renamed(name, card: cardID)] {
            do throws(GantryError) {
                let device = try AlsaPCM(name, .capture, wish: Self.wish)
                if device.cardID == cardID { return device }
            } catch {
                if failure == nil { failure = error }
            }
        }
        throw failure ?? AlsaFailure(name, .capture, nil).during(-ENODEV, "open")
    }

    /// Until `stop`, or until nobody has wanted sound for a while.
    ///
    /// - Parameter told: what was said to be wrong; nil once there is sound again.
    private func record(_ device: AlsaPCM, _ told: inout GantryError.Code?, _ sink: some MediaSink) throws(GantryError)
    {
        converter = device.frameRate == AlsaPCM.rate ? nil : try CaptureConverter(rate: device.frameRate)
        defer { cut(sink) }
        try device.start()
        var newest = MonotonicClock.now()
        var promise = EmptyPromise(patience: Self.patience)
        var demand = DeviceDemand()
        while demand.keeps(sink.wantsAudio, now: MonotonicClock.now()) {
            switch try device.wait(until: newest + Self.patience, stopper: stopping) {
            case .stopped: return
            case .timeout:
                throw silent()
            case .recovered: lose(device, sink)
            case .ready:
                let hasRead = try read(device, sink)
                let now = MonotonicClock.now()
                guard hasRead else {
                    if promise.broken(now: now) { throw silent() }
                    continue
                }
                promise.kept()
                newest = now
                if told != nil { Log.warning("The microphone \(name) is back.") }
                told = nil
                if looks >= Self.looksUntilGone { sink.soundChanged(isThere: true) }
                looks = 0
            }
        }
    }

    private func silent() -> GantryError {
        AlsaFailure(name, .capture, nil).silent(seconds: Self.patience.microseconds / 1_000_000)
    }

    /// All that is there. True when that was something.
    private func read(_ device: AlsaPCM, _ sink: some MediaSink) throws(GantryError) -> Bool {
        var hasRead = false
        // No more than the buffer holds: then it is looked whether to stop.
        for _ in 0...device.bufferFrames * 100 / device.frameRate {
            let block = block ?? begin(device)
            let taken = min(block.count, block.capacity) * AudioBlock.channels
            let room = block.samples.extracting(taken..<block.samples.count)
            switch try read(device, into: room) {
            case .nothing: return hasRead
            case .recovered:
                lose(device, sink)
                return hasRead
            case .frames(let count):
                hasRead = true
                block.count += count
                if block.count >= block.capacity { cut(sink) }
            }
        }
        // A device that makes more sound than there is time would fill everything behind it.
        if clock.last > MonotonicClock.now() + Self.lead {
            throw AlsaFailure(name, .capture, nil).unusable("it gives more than 48000 samples a second")
        }
        return hasRead
    }

    private func read(_ device: AlsaPCM, into room: UnsafeMutableBufferPointer<Float>) throws(GantryError)
        -> AlsaPCM.Transfer
    {
        if let converter { return try converter.read(from: device, into: room) }
        return try device.read(into: room)
    }

    /// A new block, with what the device says about its first sample.
    private func begin(_ device: AlsaPCM) -> AudioBlock {
        let new = blocks.take() ?? spare
        new.count = 0
        block = new
        reading =
            device.position().map { position in
                let unread = Double(position.delay) + (converter?.heldCount ?? 0)
                return position.time
                    - .microseconds(Int64((unread * 1_000_000 / Double(device.frameRate)).rounded()))
            } ?? MonotonicClock.now()
        return new
    }

    /// Stamps what has been filled, and passes it on.
    private func cut(_ sink: some MediaSink) {
        guard let full = block else { return }
        block = nil
        guard full.count > 0 else { return }
        full.presentationTime = clock.stamp(reading: reading, count: full.count)
        if full === spare { lostBlocks &+= 1 } else { sink.audio(full) }
    }

    /// What was recorded since the last block is gone.
    private func lose(_ device: AlsaPCM, _ sink: some MediaSink) {
        cut(sink)
        converter?.reset()
        clock.restart()
        Log.debug("microphone \(name): overrun or sleep, the \(device.recoveryCount). time")
    }
}
