package import GantryCore
import GantryPlatform
import Synchronization

/// A moving picture and a tone made here, in real time. See `TestPatternLayout` for the picture, `TestTone` for the
/// sound, `TimeCode` for the machine-readable stamp.
///
/// Picture n belongs at `start` + n / frameRate. A source that is a little late makes up for it; one that is later leaves
/// pictures out: the number is then taken from the clock. Sound is never left out, except after a stall of more than a second.
/// `run` blocks one thread of the owner's; it sleeps at most 20 ms at a time, so that `stop` works soon.
package final class TestPatternSource: MediaSource {
    package let info: MediaSourceInfo
    package let configuration: TestPatternConfiguration
    private let painter: TestPatternPainter
    private let tone = TestTone()
    private let isStopped = Atomic(false)
    private let skipped = Atomic(0)

    /// - Throws: `invalidArgument` when the picture is smaller than 160x120, larger than 8192, or odd.
    package init(configuration: TestPatternConfiguration) throws(GantryError) {
        let (width, height) = (configuration.width, configuration.height)
        guard width % 2 == 0, height % 2 == 0, width <= Picture.maximumSide, height <= Picture.maximumSide,
            let painter = TestPatternPainter(width: width, height: height)
        else {
            throw GantryError(
                .invalidArgument,
                "The test pattern cannot be \(width)x\(height). Choose an even size from 160x120 on, for example "
                    + "--size 1280x720.")
        }
        self.configuration = configuration
        self.painter = painter
        info = MediaSourceInfo(
            video: .init(
                width: width, height: height, frameRate: configuration.frameRate, color: .bt709, codec: "raw"),
            audio: configuration.audio
                ? .init(sampleRate: AudioBlock.sampleRate, channels: AudioBlock.channels, codec: "pcm") : nil,
            duration: configuration.duration)
    }

    package func stop() { isStopped.store(true, ordering: .relaxed) }

    /// Pictures left out because the source was late, or all pictures were still in use.
    package var skippedCount: Int { skipped.load(ordering: .relaxed) }

    package func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
        let pictures = ReusePool<Picture>(capacity: 8) { [configuration] in
            TestPatternPainter.prepare(width: configuration.width, height: configuration.height)
        }
        let blocks = ReusePool<AudioBlock>(capacity: 128) { AudioBlock(capacity: Self.blockSamples) }
        var grain = configuration.hasGrain ? TestPatternGrain() : nil
        var frame: Int64 = 0
        var block: Int64 = 0
        while !isStopped.load(ordering: .relaxed) {
            let videoTime = time(ofFrame: frame)
            let audioTime = AudioPacketizer.duration(ofSamples: block * Self.blockSamples64)
            let audioIsNext = configuration.audio && audioTime <= videoTime
            let next = audioIsNext ? audioTime : videoTime
            if let duration = configuration.duration, next >= duration { return .finished }
            guard wait(until: start + next) else { continue }
            if audioIsNext {
                block = sendBlock(block, start: start, from: blocks, to: sink)
            } else {
                frame = sendFrame(frame, start: start, grain: &grain, from: pictures, to: sink)
            }
        }
        return .stopped
    }

    /// Pictures that a late source may still make up for.
    private static let patience: Int64 = 4
    private static let blockSamples = 480
    private static let blockSamples64: Int64 = 480
    private static let longestNap = MediaDuration.milliseconds(20)

    /// False when it is too early still: look at `isStopped` and come again.
    private func wait(until due: MediaTimestamp) -> Bool {
        guard configuration.isPaced else { return true }
        let now = MonotonicClock.now()
        guard due > now else { return true }
        MonotonicClock.sleep(until: min(due, now + Self.longestNap))
        return due - now <= Self.longestNap
    }

    /// Returns the block that comes next.
    private func sendBlock(
        _ index: Int64, start: MediaTimestamp, from pool: ReusePool<AudioBlock>, to sink: some MediaSink
    ) -> Int64 {
        var index = index
        if configuration.isPaced {
            // Blocks last 10 ms. After a stall of more than a second the missing ones are left out.
            let current = (MonotonicClock.now() - start).microseconds / 10_000
            if current - index > 100 { index = current }
        }
        guard let block = pool.take() else { return index + 1 }
        tone.fill(block, fromSample: index * Self.blockSamples64)
        block.presentationTime = start + AudioPacketizer.duration(ofSamples: index * Self.blockSamples64)
        sink.audio(block)
        return index + 1
    }

    /// Returns the frame that comes next.
    private func sendFrame(
        _ index: Int64, start: MediaTimestamp, grain: inout TestPatternGrain?, from pool: ReusePool<Picture>,
        to sink: some MediaSink
    ) -> Int64 {
        var index = index
        if configuration.isPaced {
            let current = self.frame(at: MonotonicClock.now() - start)
            if current - index > Self.patience {
                skipped.add(Int(clamping: current - index), ordering: .relaxed)
                index = current
            }
        }
        _ = sink.waitForRoom(until: MonotonicClock.now() + (configuration.isPaced ? .milliseconds(100) : .seconds(1)))
        guard let picture = pool.take() else {
            skipped.add(1, ordering: .relaxed)
            return index + 1
        }
        let time = time(ofFrame: index)
        let second = time.microseconds / 1_000_000
        let isFlash = index == 0 || self.time(ofFrame: index - 1).microseconds / 1_000_000 != second
        picture.presentationTime = start + time
        picture.captureTime = MonotonicClock.now()
        painter.draw(
            on: picture, frameNumber: UInt32(truncatingIfNeeded: index), time: time, isFlash: isFlash,
            capture: picture.captureTime)
        grain?.draw(on: picture, painter.layout)
        sink.video(picture)
        return index + 1
    }

    /// Exact: whole seconds first, so that nothing overflows.
    private func time(ofFrame index: Int64) -> MediaDuration {
        let numerator = Int64(configuration.frameRate.numerator)
        let units = index &* Int64(configuration.frameRate.denominator)
        return .microseconds((units / numerator) &* 1_000_000 &+ (units % numerator) &* 1_000_000 / numerator)
    }

    /// The last frame that is due at that time, at least 0.
    private func frame(at time: MediaDuration) -> Int64 {
        let rate = configuration.frameRate.framesPerSecond
        var index = Int64(max(0, time.seconds * rate))
        // The floating point result may be off by one.
        while self.time(ofFrame: index + 1) <= time { index += 1 }
        while index > 0, self.time(ofFrame: index) > time { index -= 1 }
        return index
    }
}
