import GantryCore
import GantryPlatform
import Testing

@testable import GantryTransport

/// The queue alone: fragments byte by byte.
@Suite struct OutgoingQueueTests {
    private func next(_ queue: inout OutgoingQueue) -> [UInt8] {
        var buffer = [UInt8](repeating: 0xEE, count: 16384)
        let count = buffer.withUnsafeMutableBytes { queue.nextFragment(into: $0) }
        return Array(buffer.prefix(count))
    }

    private func push(_ queue: inout OutgoingQueue, _ message: OutgoingQueue.Message, class: OutgoingQueue.Class)
        -> Bool
    {
        queue.push(message, class: `class`)
    }

    private func control(_ bytes: [UInt8], _ type: MessageType = .ping, channel: UInt16 = 0) -> OutgoingQueue.Message {
        .init(type: type, channel: channel, flags: [], content: .bytes(bytes))
    }

    private func media(_ packet: MediaPacket, _ flags: FrameFlags = []) -> OutgoingQueue.Message {
        .init(type: packet.codec.isVideo ? .video : .audio, channel: 1, flags: flags, content: .packet(packet))
    }

    @Test func aControlMessageIsOneFrame() {
        var queue = OutgoingQueue()
        #expect(queue.isEmpty)
        #expect(push(&queue, control([0xAA, 0xBB]), class: .control))
        #expect(!queue.isEmpty)
        #expect(
            next(&queue) == [
                0x0D,  // PING
                0x00,  // no flags
                0x00, 0x00,  // channel 0
                0x00, 0x00, 0x00, 0x02,  // length
                0xAA, 0xBB,
            ])
        #expect(next(&queue).isEmpty)
        #expect(queue.isEmpty)
    }

    @Test func anEmptyMessageIsAFrameToo() {
        var queue = OutgoingQueue()
        #expect(push(&queue, control([], .pairDone), class: .control))
        #expect(next(&queue) == [0x32, 0, 0, 0, 0, 0, 0, 0])
        #expect(queue.isEmpty)
    }

    @Test func aMediaPacketHasItsPrefix() {
        var queue = OutgoingQueue()
        #expect(push(&queue, media(packet(.h264, size: 3), .key), class: .video))
        #expect(queue.videoBytes == 25)
        #expect(queue.videoCount == 1)
        #expect(
            next(&queue) == [
                0x20,  // VIDEO
                0x02,  // KEY
                0x00, 0x01,  // channel 1
                0x00, 0x00, 0x00, 0x19,  // 25 bytes
                0x00, 0x00, 0x00, 0x00,  // sequence
                0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,  // presentation time
                0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE,  // capture time −2
                0x0A, 0x0B,  // epoch
                0x5A, 0x5A, 0x5A,
            ])
        #expect(queue.videoBytes == 0)
        #expect(queue.videoCount == 0)
    }

    /// Payload sizes around the borders of a fragment, which holds 16376 bytes.
    @Test(arguments: [0, 1, 16353, 16354, 16355, 16376, 32729, 32730, 32731, 100_000])
    func fragmentsFitTogether(size: Int) throws {
        var queue = OutgoingQueue()
        let sent = MediaPacket(capacity: size)
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        content.withUnsafeBytes { sent.append($0) }
        #expect(push(&queue, media(sent, .key), class: .video))
        var whole: [UInt8] = []
        var count = 0
        while true {
            let fragment = next(&queue)
            guard let header = fragment.withUnsafeBytes({ FrameHeader($0) }) else { break }
            count += 1
            let total = size + MediaPrefix.size
            let isLast = count == (total + WireLimits.sentFragment - 1) / WireLimits.sentFragment
            #expect(header.flags == (isLast ? [.key] : [.key, .more]))
            #expect(Int(header.length) == fragment.count - 8)
            #expect(isLast || header.length == 16376)
            whole += fragment.dropFirst(8)
            #expect(queue.videoBytes == total - whole.count)
        }
        #expect(queue.isEmpty)
        #expect(count == max(1, (size + 22 + 16375) / 16376))
        #expect(Array(whole.dropFirst(22)) == content)
        #expect(whole.withUnsafeBytes { MediaPrefix($0) } == MediaPrefix(sent.header))
    }

    @Test func controlGoesBetweenTheFragmentsOfAPicture() {
        var queue = OutgoingQueue()
        #expect(push(&queue, media(packet(.h264, size: 40_000)), class: .video))
        #expect(next(&queue).first == 0x20)
        #expect(push(&queue, control([1], .data, channel: 3), class: .data))
        #expect(push(&queue, media(packet(.opus, size: 10)), class: .audio))
        #expect(push(&queue, control([2]), class: .control))
        #expect((0..<5).map { _ in next(&queue).first } == [0x0D, 0x21, 0x10, 0x20, 0x20])
        #expect(queue.isEmpty)
    }

    @Test func everyClassIsBounded() {
        var queue = OutgoingQueue()
        let rooms: [(OutgoingQueue.Class, Int)] = [(.control, 256), (.audio, 64), (.data, 64), (.video, 32)]
        for (kind, room) in rooms {
            for _ in 0..<room { #expect(push(&queue, control([0]), class: kind)) }
            #expect(!push(&queue, control([0]), class: kind))
        }
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(queue.videoBytes == 0)
        #expect(push(&queue, control([0]), class: .video))
    }

    /// Many times around the ring.
    @Test func theOrderOfAClassIsKept() {
        var queue = OutgoingQueue()
        var expected: UInt8 = 0
        for number in 0..<1000 {
            #expect(push(&queue, control([UInt8(truncatingIfNeeded: number)]), class: .video))
            if number % 3 == 2 {
                for _ in 0..<3 {
                    #expect(next(&queue).last == expected)
                    expected &+= 1
                }
            }
        }
    }
}
