/// Which quality a bitrate is enough for: first fewer bits for each picture, then fewer pictures (20, then 15 a second),
/// then smaller ones (720, 540, 360 lines).
///
/// Size comes last because it is the one change that a receiver sees as another stream: FORMAT, a key frame, and a new file
/// where it records. Going down takes half a second of too low a rate (two for the size), going up 30 % more than that rate
/// for three (five) seconds, so that it does not swing. Owned by one thread; allocates nothing after `init`.
package struct QualityLadder: Sendable {
    private struct Rung {
        let step: QualityStep
        /// Below that many bits a second the next rung is better. 0: there is none.
        let floor: Int
        let isSmaller: Bool
    }

    /// Bits a second that show a picture of 1280x720 well at 30 a second; four times the pixels need twice the bits
    /// (`H264EncoderConfiguration.defaultBitrate` has where that is from).
    private static let reference = 8_000_000.0
    private static let referencePixels = 1280.0 * 720
    private static let heights = [720, 540, 360]

    private let rungs: [Rung]
    private var index = 0
    private var lowSince: MediaTimestamp?
    private var highSince: MediaTimestamp?

    /// - Parameters:
    ///   - width: of the pictures as they come, like `height`.
    ///   - frameRate: the nominal rate.
    package init(width: Int, height: Int, frameRate: FrameRate) {
        let full = Self.bitrate(width: width, height: height)
        var steps: [(FrameRate, Int?, Double)] = [(frameRate, nil, 0.15 * full)]
        for (limit, share) in [(UInt32(20), 0.10), (15, 0.06)] {
            guard let rate = FrameRate(limit), rate.framesPerSecond < 0.9 * frameRate.framesPerSecond else { continue }
            steps.append((rate, nil, share * full))
        }
        steps[steps.count - 1].2 = 0.06 * full
        let slowest = steps[steps.count - 1].0
        for lines in Self.heights where lines < height {
            let pixels = Self.bitrate(width: max(1, width * lines / max(height, 1)), height: lines)
            steps.append((slowest, lines, 0.06 * pixels))
        }
        rungs = steps.enumerated().map { index, step in
            let isLast = index == steps.count - 1
            return Rung(
                step: QualityStep(index: UInt8(clamping: index), frameRate: step.0, lines: step.1),
                floor: isLast ? 0 : Int(step.2), isSmaller: step.1 != nil)
        }
    }

    private static func bitrate(width: Int, height: Int) -> Double {
        reference * (Double(max(1, width)) * Double(max(1, height)) / referencePixels).squareRoot()
    }

    package var step: QualityStep { rungs[index].step }

    /// True when `step` is another one from now on.
    package mutating func update(bitrate: Int, now: MediaTimestamp) -> Bool {
        if bitrate < rungs[index].floor {
            highSince = nil
            let since = lowSince ?? now
            lowSince = since
            let patience = rungs[index + 1].isSmaller ? MediaDuration.seconds(2) : .milliseconds(500)
            return now - since >= patience ? move(to: index + 1) : false
        }
        lowSince = nil
        guard index > 0, bitrate > rungs[index - 1].floor + rungs[index - 1].floor * 3 / 10 else {
            highSince = nil
            return false
        }
        let since = highSince ?? now
        highSince = since
        return now - since >= (rungs[index].isSmaller ? MediaDuration.seconds(5) : .seconds(3))
            ? move(to: index - 1) : false
    }

    private mutating func move(to new: Int) -> Bool {
        index = new
        lowSince = nil
        highSince = nil
        return true
    }
}
