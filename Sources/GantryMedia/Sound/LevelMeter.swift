import GantryCore
import GantryPlatform
import Glibc

/// How loud sound is: the peak of each channel since somebody looked. Any thread.
package final class LevelMeter: @unchecked Sendable {  // All state is guarded by `lock`.
    private let lock = Lock()
    private var left: Float = 0
    private var right: Float = 0
    private var hasSound = false

    package init() {}

    /// Looks at each sample; allocates nothing.
    package func feed(_ block: AudioBlock) {
        let valid = block.samples[..<min(block.count * AudioBlock.channels, block.samples.count)]
        feed(UnsafeBufferPointer(rebasing: valid))
    }

    /// The same for samples alone: left, right, left…
    package func feed(_ samples: UnsafeBufferPointer<Float>) {
        var (left, right): (Float, Float) = (0, 0)
        for index in stride(from: 0, to: samples.count - 1, by: 2) {
            // What is no number is larger than nothing.
            if abs(samples[index]) > left { left = abs(samples[index]) }
            if abs(samples[index + 1]) > right { right = abs(samples[index + 1]) }
        }
        lock.withLock {
            self.left = max(self.left, left)
            self.right = max(self.right, right)
            hasSound = true
        }
    }

    /// Peaks in dB of full scale, left and right; minus infinity for silence. Nil when no sound has come since the last call.
    package func take() -> [Double]? {
        lock.withLock {
            guard hasSound else { return nil }
            defer { (left, right, hasSound) = (0, 0, false) }
            return [left, right].map { 20 * log10(Double($0)) }
        }
    }
}
