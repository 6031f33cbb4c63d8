import GantryCore
import GantryMedia
import GantryTestSupport
import Testing

@Suite struct AudioPacketizerTests {
    struct Packet: Equatable {
        var presentation: Int64
        var first: Float
        var count: Int
    }

    /// A block whose samples count up from `value`.
    static func block(_ count: Int, at microseconds: Int64, from value: Int = 0) -> AudioBlock {
        let block = AudioBlock(capacity: max(1, count))
        block.count = count
        block.presentationTime = MediaTimestamp(microseconds: microseconds)
        for index in 0..<count {
            block.samples[index * 2] = Float(value + index)
            block.samples[index * 2 + 1] = -Float(value + index)
        }
        return block
    }

    static func feed(_ packetizer: AudioPacketizer, _ blocks: [AudioBlock]) throws -> [Packet] {
        var packets: [Packet] = []
        for block in blocks {
            try packetizer.append(block) { (samples, presentation, _) throws(GantryError) in
                packets.append(
                    Packet(presentation: presentation.microseconds, first: samples[0], count: samples.count / 2))
            }
        }
        return packets
    }

    @Test(arguments: [1, 7, 331, 480, 1115, 48_000]) func anyBlockLengthGivesTheSamePackets(length: Int) throws {
        let packetizer = AudioPacketizer(samplesPerPacket: 480, lookahead: 120)
        let blocks = (0..<(48_000 / length)).map {
            Self.block(length, at: 1_000_000 + Int64($0 * length) * 1_000_000 / 48_000, from: $0 * length)
        }
        let packets = try Self.feed(packetizer, blocks)
        #expect(packets.count == 48_000 / length * length / 480)
        for (index, packet) in packets.enumerated() {
            let expected = Packet(
                presentation: 1_000_000 + Int64(index) * 10_000 - 2500, first: Float(index * 480), count: 480)
            #expect(packet == expected)
        }
        #expect(packetizer.resetCount == 0)
    }

    @Test func aGapStartsAnew() throws {
        let packetizer = AudioPacketizer(samplesPerPacket: 480, lookahead: 0)
        let packets = try Self.feed(
            packetizer,
            [
                Self.block(700, at: 0), Self.block(480, at: 14_583 + 100_500, from: 5000),
                Self.block(480, at: 0, from: 9000),
            ])
        #expect(
            packets == [
                Packet(presentation: 0, first: 0, count: 480), Packet(presentation: 115_083, first: 5000, count: 480),
                Packet(presentation: 0, first: 9000, count: 480),
            ])
        #expect(packetizer.resetCount == 2)
    }

    @Test func aSlowClockIsFollowedWithoutAReset() throws {
        let packetizer = AudioPacketizer(samplesPerPacket: 480, lookahead: 0)
        // 500 ppm for 10 minutes are 300 ms.
        let blocks = (0..<60_000).map { Self.block(480, at: Int64($0) * 10_005) }
        let packets = try Self.feed(packetizer, blocks)
        #expect(packets.count == 60_000 && packetizer.resetCount == 0)
        let last = try #require(packets.last)
        #expect(abs(last.presentation - 59_999 * 10_005) < 3000)
    }

    @Test func stampsAtTheEndsOfTheRangeDoNotTrap() throws {
        let packetizer = AudioPacketizer(samplesPerPacket: 480, lookahead: 120)
        let packets = try Self.feed(
            packetizer,
            [Int64.max, .min, 0, .max, -1].map { Self.block(480, at: $0) } + [Self.block(0, at: 5)])
        #expect(packets.count == 5)
    }
}
