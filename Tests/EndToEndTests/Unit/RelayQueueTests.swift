import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryCore
@testable import StudioKit

@Suite struct RelayQueueTests {
    private func packet(_ codec: MediaCodec = .h264, isKey: Bool = false, sequence: UInt32 = 0) -> MediaPacket {
        let packet = MediaPacket(capacity: 64)
        packet.codec = codec
        packet.header.isKey = isKey || codec == .opus
        packet.header.sequence = sequence
        [UInt8](repeating: 1, count: 16).withUnsafeBytes { packet.append($0) }
        return packet
    }

    private func sequence(_ item: RelayQueue.Item?) -> UInt32? {
        if case .packet(let packet, _) = item { packet.header.sequence } else { nil }
    }

    @Test func whatRunsOverIsGivenUpUpToAKeyFrame() {
        let queue = RelayQueue()
        queue.expect(video: true, audio: true)
        var number: UInt32 = 0
        while queue.overrunCount == 0 {
            number += 1
            queue.push(packet(sequence: number))
        }
        #expect(number > 100 && number < 400)
        #expect(!queue.awaitsKeyFrame)
        // Neither pictures nor sound until then, and what is said stays.
        queue.push(packet(sequence: 1000))
        queue.push(packet(.opus, sequence: 1001))
        queue.formatChanged(
            .audio(AudioStreamFormat(codec: .opus, sampleRate: 48_000, channels: 2, samplesPerPacket: 480, head: [])))
        guard case .expect(true, true) = queue.pop() else {
            Issue.record("what will come was lost")
            return
        }
        guard case .format(.audio) = queue.pop() else {
            Issue.record("a format was lost, or a packet was not given up")
            return
        }
        #expect(queue.awaitsKeyFrame)
        queue.push(packet(isKey: true, sequence: 2000))
        #expect(!queue.awaitsKeyFrame)
        queue.push(packet(.opus, sequence: 2001))
        #expect(sequence(queue.pop()) == 2000)
        #expect(sequence(queue.pop()) == 2001)
        #expect(queue.droppedCount == Int(number) + 2)
        queue.close()
        #expect(sequence(queue.pop()) == nil)
    }

    @Test func soundAloneGoesOnByItself() {
        let queue = RelayQueue()
        queue.expect(video: false, audio: true)
        while queue.overrunCount == 0 { queue.push(packet(.opus)) }
        #expect(!queue.awaitsKeyFrame)
        queue.expect(video: false, audio: true)
        // All that waited is given up between the two.
        for _ in 0..<2 {
            guard case .expect(false, true) = queue.pop() else {
                Issue.record("what waited was not given up")
                return
            }
        }
        queue.push(packet(.opus, sequence: 7))
        #expect(sequence(queue.pop()) == 7)
    }
}
