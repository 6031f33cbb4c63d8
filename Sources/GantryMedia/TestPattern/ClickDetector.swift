package import GantryCore

/// Finds the clicks of the test tone in PCM, to within 1 ms, also after Opus. Pure; owned by one thread.
///
/// A click begins where the left channel first exceeds half of the click's level; the next can begin half a second
/// later.
package struct ClickDetector {
    private static let threshold = TestTone.clickLevel / 2
    /// The 1 kHz sine reaches half its level a twelfth of a period after its beginning.
    private static let rise = MediaDuration.microseconds(83)
    private static let pause = MediaDuration.milliseconds(500)
    private var last: MediaTimestamp?

    package init() {}

    /// The presentation time of the click that begins in `block`, if one does.
    package mutating func feed(_ block: AudioBlock) -> MediaTimestamp? {
        for index in 0..<min(block.count, block.capacity) {
            let value = block.samples[index * AudioBlock.channels]
            guard value.magnitude > Self.threshold else { continue }
            let time = block.presentationTime + AudioPacketizer.duration(ofSamples: Int64(index)) - Self.rise
            if let last, time > last, time - last < Self.pause { continue }
            last = time
            return time
        }
        return nil
    }
}
