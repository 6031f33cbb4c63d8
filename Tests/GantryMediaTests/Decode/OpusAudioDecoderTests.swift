import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct OpusAudioDecoderTests {
    /// Zero crossings upwards in a second of the left channel: the frequency of a tone.
    private func frequency(_ samples: [Float]) -> Double {
        let crossings = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
        return Double(crossings) * 48_000 / Double(max(1, samples.count))
    }

    private func left(_ block: AudioBlock) -> [Float] { (0..<block.count).map { block.samples[2 * $0] } }

    @Test func decodesATone() async throws {
        let packets = try await MediaClips.opus(seconds: 1)
        let decoder = try OpusAudioDecoder()
        var samples: [Float] = []
        for packet in packets {
            decoder.decode(packet) { block in
                #expect(block.count == 480)
                #expect(block.presentationTime == packet.header.presentationTime)
                samples += left(block)
            }
        }
        #expect(samples.count == packets.count * 480)
        #expect(abs(frequency(Array(samples[4800..<43_200])) - 440) < 5)
        #expect(decoder.concealedCount == 0)
    }

    @Test func conceals() async throws {
        let packets = try await MediaClips.opus(seconds: 1)
        let decoder = try OpusAudioDecoder()
        var stamps: [Int64] = []
        for (index, packet) in packets.prefix(50).enumerated() where !(20...22).contains(index) {
            decoder.decode(packet) { stamps.append($0.presentationTime.microseconds) }
        }
        #expect(decoder.concealedCount == 3)
        #expect(stamps == (0..<50).map { 5_000_000 + 10_000 * $0 })
    }

    @Test func aLongGapIsLeftToTheStamps() async throws {
        let packets = try await MediaClips.opus(seconds: 1)
        let decoder = try OpusAudioDecoder()
        var count = 0
        decoder.decode(packets[0]) { _ in count += 1 }
        decoder.decode(packets[50]) { _ in count += 1 }
        #expect(count == 2)
        // A number that goes backwards is a new beginning.
        decoder.decode(packets[3]) { _ in count += 1 }
        #expect(count == 3)
        #expect(decoder.concealedCount == 0)
    }

    @Test func garbageBecomesConcealment() async throws {
        let decoder = try OpusAudioDecoder()
        var random = SeededRandom(seed: 3)
        for round in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...1500, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let packet = MediaClips.packet(bytes, .opus, index: round, duration: 10_000, isKey: true)
            decoder.decode(packet) { block in
                #expect(block.count > 0 && block.count <= OpusAudioDecoder.maximumSamples)
            }
        }
        #expect(decoder.concealedCount > 0)
        let good = try await MediaClips.opus(seconds: 0.5)
        var delivered = 0
        decoder.reset()
        for packet in good { decoder.decode(packet) { _ in delivered += 1 } }
        #expect(delivered == good.count)
    }

    @Test func aFullPoolDropsInsteadOfGrowing() async throws {
        let packets = try await MediaClips.opus(seconds: 1)
        let decoder = try OpusAudioDecoder(poolSize: 12)
        var held: [AudioBlock] = []
        for packet in packets.prefix(20) { decoder.decode(packet) { held.append($0) } }
        #expect(held.count == 12)
        #expect(decoder.droppedCount == 8)
    }
}
