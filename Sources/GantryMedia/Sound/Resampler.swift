import CSampleRate
package import GantryCore

/// Makes 48 kHz stereo sound a little faster or slower (libsamplerate, SINC_FASTEST: 119 dB at 1 kHz measured, 0.3 % of a
/// core), or makes it of sound of another rate (SINC_MEDIUM_QUALITY, which keeps 90 % of the band). One thread; allocates
/// only in `init`.
package final class Resampler {
    package struct Progress: Hashable, Sendable {
        /// Samples of each channel.
        package var used = 0
        package var made = 0
    }

    /// The farthest that the speed may be from 1.
    package static let largestCorrection = DriftServo.largestCorrection

    /// Samples of each channel that were taken in and have not come out yet, at the rate of what comes in.
    package private(set) var heldCount = 0.0
    private let state: OpaquePointer
    /// Without a correction: output samples for each input sample, as the library wants it.
    private let plainRatio: Double
    /// With it.
    private var ratio: Double

    /// The rates of what comes in.
    package static let rates = 4000...768_000

    /// - Parameter rate: of what comes in; clamped to `rates`. What comes out has 48 kHz.
    /// - Throws: `general` when memory is out.
    package init(rate: Int = AudioBlock.sampleRate) throws(GantryError) {
        let rate = min(max(rate, Self.rates.lowerBound), Self.rates.upperBound)
        plainRatio = Double(AudioBlock.sampleRate) / Double(rate)
        ratio = plainRatio
        let kind = rate == AudioBlock.sampleRate ? SRC_SINC_FASTEST : SRC_SINC_MEDIUM_QUALITY
        var status: CInt = 0
        guard let state = src_new(CInt(kind), CInt(AudioBlock.channels), &status) else {
            throw GantryError(
                .general, "The sound cannot be prepared for the device. Close other programs and try again.",
                cause: Self.text(status))
        }
        self.state = state
        _ = src_set_ratio(state, ratio)
    }

    deinit { src_delete(state) }

    /// How much faster than given; clamped to 1 ± `largestCorrection`. Holds from the next sample on, without a ramp, so
    /// that `heldCount` is exact.
    package func setSpeed(_ speed: Double) {
        let limit = Self.largestCorrection
        ratio = plainRatio / (speed.isFinite ? max(1 - limit, min(1 + limit, speed)) : 1)
        _ = src_set_ratio(state, ratio)
    }

    /// Forgets what it holds.
    package func reset() {
        _ = src_reset(state)
        _ = src_set_ratio(state, ratio)
        heldCount = 0
    }

    /// Takes at most `inputCount` samples of each channel and makes at most `outputCount`; interleaved.
    ///
    /// - Throws: `general` when the library refuses; the state is as after `reset`.
    package func process(
        _ input: UnsafePointer<Float>, _ inputCount: Int, into output: UnsafeMutablePointer<Float>, _ outputCount: Int
    ) throws(GantryError) -> Progress {
        guard inputCount >= 0, outputCount > 0 else { return Progress() }
        var data = SRC_DATA()
        data.data_in = input
        data.data_out = output
        data.input_frames = inputCount
        data.output_frames = outputCount
        data.src_ratio = ratio
        let status = src_process(state, &data)
        guard status == 0 else {
            reset()
            throw GantryError(.general, "The sound could not be prepared for the device.", cause: Self.text(status))
        }
        // Bounded whatever the library says: these are indices.
        let progress = Progress(
            used: max(0, min(inputCount, data.input_frames_used)),
            made: max(0, min(outputCount, data.output_frames_gen)))
        heldCount = max(0, heldCount + Double(progress.used) - Double(progress.made) / ratio)
        return progress
    }

    private static func text(_ status: CInt) -> String {
        src_strerror(status).map { String(cString: $0) } ?? "error \(status)"
    }
}
