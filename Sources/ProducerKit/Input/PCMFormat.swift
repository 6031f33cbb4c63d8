import GantryCore
import GantryMedia

/// How sound lies in memory: linear PCM, interleaved, in the byte order of the machine.
public struct PCMFormat: Sendable, Hashable {
    /// How one sample is stored.
    public enum Sample: Sendable, CaseIterable {
        /// 16 bits, signed.
        case int16
        /// 32 bits, signed.
        case int32
        /// 32 bits, floating point, −1…1; what is beyond is cut, what is no number becomes silence.
        case float32

        var input: PCMInput.Sample {
            switch self {
            case .int16: .int16
            case .int32: .int32
            case .float32: .float32
            }
        }
    }

    /// How one sample is stored.
    public var sample: Sample
    /// 2: left, right, left, right. 1: goes to both sides.
    public var channels: Int
    /// Hertz, 4000…768000. Other rates than 48000 are converted.
    public var sampleRate: Int

    /// Stereo of 48 kHz in 32 bits, unless told otherwise.
    public init(_ sample: Sample = .int32, channels: Int = 2, sampleRate: Int = 48_000) {
        self.sample = sample
        self.channels = channels
        self.sampleRate = sampleRate
    }

    /// Bytes of one sample of all channels.
    var frameSize: Int { sample.input.size * channels }

    /// - Throws: `invalidArgument` when `count` bytes in this format cannot be taken.
    func check(count: Int) throws(GantryError) {
        guard 1...2 ~= channels, Resampler.rates ~= sampleRate else {
            throw GantryError(
                .invalidArgument,
                "Sound has 1 or 2 channels of 4000…768000 Hz, not \(channels) of \(sampleRate). Mix or convert it first."
            )
        }
        guard count % frameSize == 0 else {
            throw GantryError(
                .invalidArgument,
                "\(count) bytes are no whole number of samples: \(channels) channels in \(sample) take \(frameSize) bytes each "
                    + "time.")
        }
        guard count / frameSize <= sampleRate else {
            throw GantryError(
                .invalidArgument,
                "\(count / frameSize) samples of \(sampleRate) Hz are more than a second. Hand in shorter pieces.")
        }
    }
}

/// A number that `enqueuePCMAudio` takes: `Int16`, `Int32` or `Float`.
public protocol PCMSample: BitwiseCopyable, Sendable {
    /// How it is stored.
    static var pcmSample: PCMFormat.Sample { get }
}

extension Int16: PCMSample {
    /// 16 bits, signed.
    public static var pcmSample: PCMFormat.Sample { .int16 }
}

extension Int32: PCMSample {
    /// 32 bits, signed.
    public static var pcmSample: PCMFormat.Sample { .int32 }
}

extension Float: PCMSample {
    /// 32 bits, floating point.
    public static var pcmSample: PCMFormat.Sample { .float32 }
}
