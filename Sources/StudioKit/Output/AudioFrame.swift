public import GantryCore
package import GantryMedia

/// A run of decoded sound as an `AudioOutput` gets it: 48 kHz, stereo, interleaved 32-bit float in −1…1. Holding it
/// keeps its memory out of the pool.
public struct AudioFrame: Sendable {
    package let block: AudioBlock
    /// 0: live. Otherwise the stretch of the replay: another number does not go on from what came before.
    package var run = 0

    package init(_ block: AudioBlock) { self.block = block }

    /// Samples of each channel.
    public var count: Int { block.count }
    /// Of the first sample, on the producer's clock.
    public var presentationTime: MediaTimestamp { block.presentationTime }

    /// Calls `body` with `count` × 2 floats, left then right, valid during the call.
    public func withSamples<R>(_ body: (UnsafeBufferPointer<Float>) throws -> R) rethrows -> R {
        let valid = min(block.count * AudioBlock.channels, block.samples.count)
        return try body(UnsafeBufferPointer(rebasing: block.samples[..<valid]))
    }
}
