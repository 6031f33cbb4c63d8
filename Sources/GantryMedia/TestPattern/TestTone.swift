import GantryCore
import Glibc

/// The sound of the test pattern: 440 Hz at −26 dB, and a click of 1 kHz at −6 dB for the first 5 ms of each full second
/// of the pattern's time line.
///
/// A full second has a whole number of periods of both, so that one second of samples is made once and repeated.
package final class TestTone: Sendable {
    package static let clickLevel: Float = 0.5
    package static let toneLevel: Float = 0.05
    /// 5 ms.
    package static let clickSamples = AudioBlock.sampleRate / 200
    private let second: [Float]

    package init() {
        let rate = Double(AudioBlock.sampleRate)
        second = (0..<AudioBlock.sampleRate).map { index in
            let time = Double(index) / rate
            var value = Self.toneLevel * Float(sin(2 * Double.pi * 440 * time))
            if index < Self.clickSamples { value += Self.clickLevel * Float(sin(2 * Double.pi * 1000 * time)) }
            return value
        }
    }

    /// Fills `block` (its whole capacity) from that sample of the time line on. The stamp is the caller's.
    package func fill(_ block: AudioBlock, fromSample index: Int64) {
        let rate = Int64(AudioBlock.sampleRate)
        var position = Int((index % rate + rate) % rate)
        for sample in 0..<block.capacity {
            let value = second[position]
            block.samples[sample * 2] = value
            block.samples[sample * 2 + 1] = value
            position = position + 1 == second.count ? 0 : position + 1
        }
        block.count = block.capacity
    }
}
