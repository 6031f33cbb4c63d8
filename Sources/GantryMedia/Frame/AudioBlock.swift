package import GantryCore

/// A run of PCM: 48 kHz, 2 channels, interleaved 32-bit float in −1…1, used again through a `ReusePool`.
///
/// Filled by its one owner; once passed on, nobody writes to it any more.
package final class AudioBlock: @unchecked Sendable {  // Written by its one owner before it is shared, then read only.
    package static let sampleRate = 48_000
    package static let channels = 2

    /// Room, in samples of each channel.
    package let capacity: Int
    /// Samples of each channel that are valid, at most `capacity`.
    package var count = 0
    /// Of the first sample, on the producer's clock.
    package var presentationTime = MediaTimestamp(microseconds: 0)
    /// Receiver only: when the packet it came from had arrived, on this machine's clock. 0 where that is not known.
    package var arrivalTime = MediaTimestamp(microseconds: 0)
    /// `capacity` × 2 floats, left then right.
    package let samples: UnsafeMutableBufferPointer<Float>

    package init(capacity: Int) {
        self.capacity = max(1, capacity)
        samples = .allocate(capacity: self.capacity * Self.channels)
        samples.initialize(repeating: 0)
    }

    deinit { samples.deallocate() }
}
