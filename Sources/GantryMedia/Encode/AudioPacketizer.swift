package import GantryCore

/// Cuts PCM blocks of any length into packets of one length, with exact stamps. Owned by one thread; allocates in
/// `init` only.
///
/// Stamps count samples from an anchor, so that packets follow each other without jitter. The anchor is the stamp of
/// the first block. A block whose stamp differs from the count by more than `resetGap` starts anew: what was collected
/// is thrown away. A smaller difference above `tolerance` (the sound card's clock is not the system's) moves the
/// anchor by a sixteenth of itself each block.
package final class AudioPacketizer {
    package static let resetGap = MediaDuration.milliseconds(100)
    static let tolerance = MediaDuration.milliseconds(2)

    package let samplesPerPacket: Int
    /// How often a gap has started the count anew.
    package private(set) var resetCount = 0
    /// The encoder's look-ahead in microseconds, taken off each stamp.
    private let shift: MediaDuration
    private let buffer: UnsafeMutableBufferPointer<Float>
    /// Samples of each channel in `buffer`.
    private var collected = 0
    private var anchor: MediaTimestamp?
    /// Samples since `anchor`, those in `buffer` included.
    private var counted: Int64 = 0

    /// - Parameter lookahead: Samples; see `OpusAudioEncoder.lookahead`.
    package init(samplesPerPacket: Int, lookahead: Int) {
        self.samplesPerPacket = max(1, samplesPerPacket)
        shift = Self.duration(ofSamples: Int64(lookahead))
        buffer = .allocate(capacity: self.samplesPerPacket * AudioBlock.channels)
        buffer.initialize(repeating: 0)
    }

    deinit { buffer.deallocate() }

    /// Takes a block in and calls `emit` for each packet that is full: its samples (interleaved, valid during the call),
    /// the presentation time of the first sample that a decoder will give for it, and the capture time of the first
    /// sample that went in.
    package func append(
        _ block: AudioBlock,
        emit: (UnsafeBufferPointer<Float>, _ presentation: MediaTimestamp, _ capture: MediaTimestamp)
            throws(GantryError) -> Void
    ) throws(GantryError) {
        guard block.count > 0 else { return }
        align(to: block.presentationTime)
        var taken = 0
        while taken < block.count {
            let count = min(block.count - taken, samplesPerPacket - collected)
            let channels = AudioBlock.channels
            if let target = buffer.baseAddress, let source = block.samples.baseAddress {
                (target + collected * channels).update(from: source + taken * channels, count: count * channels)
            }
            taken += count
            collected += count
            counted &+= Int64(count)
            guard collected == samplesPerPacket else { continue }
            collected = 0
            let capture = stamp(ofSample: counted &- Int64(samplesPerPacket))
            try emit(UnsafeBufferPointer(buffer), capture - shift, capture)
        }
    }

    /// Forgets what was collected; the next block is a new beginning.
    package func reset() {
        anchor = nil
        counted = 0
        collected = 0
    }

    private func align(to time: MediaTimestamp) {
        guard let anchor else {
            self.anchor = time
            return
        }
        let difference = (time - stamp(ofSample: counted)).microseconds
        let size = difference.magnitude
        if size > UInt64(Self.resetGap.microseconds) {
            resetCount &+= 1
            reset()
            self.anchor = time
        } else if size > UInt64(Self.tolerance.microseconds) {
            self.anchor = anchor + .microseconds(difference / 16)
        }
    }

    private func stamp(ofSample index: Int64) -> MediaTimestamp {
        (anchor ?? MediaTimestamp(microseconds: 0)) + Self.duration(ofSamples: index)
    }

    /// Without overflow: whole seconds first.
    static func duration(ofSamples count: Int64) -> MediaDuration {
        let rate = Int64(AudioBlock.sampleRate)
        return .microseconds((count / rate) &* 1_000_000 &+ (count % rate) &* 1_000_000 / rate)
    }
}
