package import GantryCore
import GantryPlatform

/// Turns PCM of the application into pooled blocks of sound: 48 kHz, stereo, float. Any thread; what several threads hand in goes
/// one after the other.
package final class PCMInput: @unchecked Sendable {  // All state is guarded by `lock`, which is held while it converts.
    /// How one sample is stored, in the byte order of the machine.
    package enum Sample: Sendable, Hashable {
        case int16
        case int32
        case float32

        package var size: Int { self == .int16 ? 2 : 4 }
    }

    /// 20 ms.
    private static let blockSize = 960
    /// A second and a half: what waits for the encoder, and what is being filled.
    private static let poolSize = 75

    private let lock = Lock()
    private let blocks = ReusePool<AudioBlock>(capacity: poolSize) { AudioBlock(capacity: blockSize) }
    /// For other rates than 48 kHz, and that rate.
    private var resampler: (Resampler, rate: Int)?
    /// What goes into it, stereo.
    private var input: [Float] = []

    package init() {}

    /// - Parameters:
    ///   - bytes: samples, interleaved, of `channels` (1 or 2).
    ///   - rate: in `Resampler.rates`.
    ///   - stamp: of the first sample.
    ///   - emit: called with each block; quick.
    /// - Returns: false when blocks were lacking: the rest was let go.
    /// - Throws: `general` when memory is out.
    package func convert(
        _ bytes: UnsafeRawBufferPointer, _ sample: Sample, channels: Int, rate: Int, stamp: MediaTimestamp,
        emit: (AudioBlock) -> Void
    ) throws(GantryError) -> Bool {
        let count = bytes.count / (sample.size * channels)
        return try lock.withLock { () throws(GantryError) -> Bool in
            if rate == AudioBlock.sampleRate {
                resampler = nil
                return direct(bytes, sample, channels, count, stamp, emit)
            }
            return try resampled(bytes, sample, channels, count, rate, stamp, emit)
        }
    }

    private func direct(
        _ bytes: UnsafeRawBufferPointer, _ sample: Sample, _ channels: Int, _ count: Int, _ stamp: MediaTimestamp,
        _ emit: (AudioBlock) -> Void
    ) -> Bool {
        var done = 0
        while done < count {
            guard let block = blocks.take() else { return false }
            block.count = min(count - done, block.capacity)
            Self.copy(bytes, sample, channels, from: done, count: block.count, to: block.samples)
            block.presentationTime = stamp + AudioPacketizer.duration(ofSamples: Int64(done))
            emit(block)
            done += block.count
        }
        return true
    }

    private func resampled(
        _ bytes: UnsafeRawBufferPointer, _ sample: Sample, _ channels: Int, _ count: Int, _ rate: Int,
        _ stamp: MediaTimestamp, _ emit: (AudioBlock) -> Void
    ) throws(GantryError) -> Bool {
        let resampler: Resampler
        if let kept = self.resampler, kept.rate == rate {
            resampler = kept.0
        } else {
            resampler = try Resampler(rate: rate)
        }
        self.resampler = (resampler, rate)
        let needed = count * AudioBlock.channels
        // Grows to the longest piece that comes, a second at most.
        if input.count < needed { input += [Float](repeating: 0, count: needed - input.count) }
        input.withUnsafeMutableBufferPointer {
            Self.copy(bytes, sample, channels, from: 0, count: count, to: $0)
        }
        // What it still holds comes first.
        var time = stamp - .microseconds(Int64(resampler.heldCount / Double(rate) * 1_000_000))
        var used = 0
        while true {
            guard let block = blocks.take() else { return false }
            let progress = try input.withUnsafeBufferPointer { samples throws(GantryError) -> Resampler.Progress in
                guard let from = samples.baseAddress, let to = block.samples.baseAddress else { return .init() }
                return try resampler.process(
                    from + used * AudioBlock.channels, count - used, into: to, block.capacity)
            }
            used += progress.used
            guard progress.made > 0 || (progress.used > 0 && used < count) else { return true }
            guard progress.made > 0 else { continue }
            block.count = progress.made
            block.presentationTime = time
            time = time + AudioPacketizer.duration(ofSamples: Int64(progress.made))
            emit(block)
        }
    }

    /// Mono goes to both sides. What is no number becomes silence, and what is too loud is cut.
    private static func copy(
        _ bytes: UnsafeRawBufferPointer, _ sample: Sample, _ channels: Int, from: Int, count: Int,
        to target: UnsafeMutableBufferPointer<Float>
    ) {
        func value(_ index: Int) -> Float {
            let offset = index * sample.size
            switch sample {
            case .int16: return Float(bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self)) / 32_768
            case .int32: return Float(bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)) / 2_147_483_648
            case .float32:
                let float = bytes.loadUnaligned(fromByteOffset: offset, as: Float.self)
                return float.isFinite ? max(-1, min(1, float)) : 0
            }
        }
        for index in 0..<count {
            let left = value((from + index) * channels)
            target[index * 2] = left
            target[index * 2 + 1] = channels == 1 ? left : value((from + index) * channels + 1)
        }
    }
}
