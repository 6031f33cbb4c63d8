import GantryCore

/// The end of a sound device that records, as `CaptureConverter` needs it. One thread.
protocol RecordingDevice: AnyObject {
    /// Fills `samples` from its beginning, left then right. Never waits.
    func read(into samples: UnsafeMutableBufferPointer<Float>) throws(GantryError) -> AlsaPCM.Transfer
}

extension AlsaPCM: RecordingDevice {}

/// Makes 48 kHz of what a device of another rate records. One thread; allocates only in `init`.
final class CaptureConverter {
    private let resampler: Resampler
    /// 10 ms of the device's.
    private let input: UnsafeMutableBufferPointer<Float>
    /// What of `input` waits, in samples of each channel.
    private var waiting = 0..<0

    /// - Throws: `general` when memory is out.
    init(rate: Int) throws(GantryError) {
        resampler = try Resampler(rate: rate)
        input = .allocate(capacity: max(1, rate / 100) * AudioBlock.channels)
        input.initialize(repeating: 0)
    }

    deinit { input.deallocate() }

    /// What was read and has not come out yet, in samples of the device's.
    var heldCount: Double { Double(waiting.count) + resampler.heldCount }

    /// What comes next does not follow what came before.
    func reset() {
        waiting = 0..<0
        resampler.reset()
    }

    /// As the device's own `read`, at 48 kHz. `nothing` when the device has nothing, whatever is still held.
    func read(from device: some RecordingDevice, into samples: UnsafeMutableBufferPointer<Float>) throws(GantryError)
        -> AlsaPCM.Transfer
    {
        let room = samples.count / AudioBlock.channels
        guard room > 0, let output = samples.baseAddress, let base = input.baseAddress else { return .nothing }
        while true {
            if waiting.isEmpty {
                switch try device.read(into: input) {
                case .nothing: return .nothing
                case .recovered:
                    reset()
                    return .recovered
                case .frames(let count): waiting = 0..<max(0, min(count, input.count / AudioBlock.channels))
                }
            }
            let progress = try resampler.process(
                base + waiting.lowerBound * AudioBlock.channels, waiting.count, into: output, room)
            waiting = min(waiting.upperBound, waiting.lowerBound + progress.used)..<waiting.upperBound
            if progress.made > 0 { return .frames(progress.made) }
            // The filter is not full yet: on to the next. But nothing in and nothing out would never end.
            if progress.used == 0 { waiting = 0..<0 }
        }
    }
}
