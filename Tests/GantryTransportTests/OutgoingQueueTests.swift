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

    private struct Entry {
        var content: OutgoingQueue.Content
        var type: MessageType
        var flags: FrameFlags = []
        var channel: UInt16
    }

    private func push(
        _ queue: inout OutgoingQueue, _ entry: Entry, class trafficClass: SendScheduler.TrafficClass
    ) -> Bool {
        queue.push(
            entry.content, type: entry.type, flags: entry.flags, channel: entry.channel, class: trafficClass)
    }

    private func control(_ bytes: [UInt8], _ type: MessageType = .ping, channel: UInt16 = 0) -> Entry {
        Entry(content: .bytes(bytes), type: type, channel: channel)
    }

    private func media(_ packet: MediaPacket, _ flags: FrameFlags = []) -> Entry {
        let isVideo = packet.codec.isVideo
        return Entry(
            content: .packet(packet), type: isVideo ? .video : .audio, flags: flags, channel: isVideo ? 1 : 2)
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

    /// What is half sent goes on to its end; all other media go, control messages stay.
    @Test func waitingMediaAreThrownAway() {
        var queue = OutgoingQueue()
        #expect(push(&queue, media(packet(.h264, size: 40_000), .key), class: .video))
        #expect(next(&queue).count > 8)
        #expect(push(&queue, media(packet(.h264, size: 300)), class: .video))
        #expect(push(&queue, media(packet(.opus, size: 100)), class: .audio))
        #expect(push(&queue, control([1]), class: .control))
        queue.removeWaitingMedia()
        #expect(queue.videoBacklog.count == 1)
        var types: [UInt8] = []
        var videoBytes = 0
        while case let frame = next(&queue), !frame.isEmpty {
            if types.last != frame[0] { types.append(frame[0]) }
            if frame[0] == 0x20 { videoBytes += frame.count - 8 }
        }
        #expect(types == [0x0D, 0x20])
        #expect(videoBytes < 40_022 && videoBytes > 40_022 - 16_384)
        #expect(queue.isEmpty)
        #expect(queue.videoBacklog.bytes == 0)
        // Goes on as before.
        #expect(push(&queue, media(packet(.h264, size: 3)), class: .video))
        #expect(next(&queue).count == 8 + 22 + 3)
    }

    @Test func aMediaPacketHasItsPrefix() {
        var queue = OutgoingQueue()
        #expect(push(&queue, media(packet(.h264, size: 3), .key), class: .video))
        #expect(queue.videoBacklog.bytes == 25)
        #expect(queue.videoBacklog.count == 1)
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
        #expect(queue.videoBacklog.bytes == 0)
        #expect(queue.videoBacklog.count == 0)
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
            #expect(queue.videoBacklog.bytes == total - whole.count)
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
        let rooms: [(SendScheduler.TrafficClass, UInt16, Int)] = [
            (.control, 0, 256), (.audio, 2, 64), (.data, 3, 64), (.video, 1, 32),
        ]
        for (kind, channel, room) in rooms {
            for _ in 0..<room { #expect(push(&queue, control([0], channel: channel), class: kind)) }
            #expect(!push(&queue, control([0], channel: channel), class: kind))
        }
        #expect(!push(&queue, control([0], channel: WireLimits.highestChannel + 1), class: .data))
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(queue.videoBacklog.bytes == 0)
        #expect(push(&queue, control([0], channel: 1), class: .video))
    }

    /// Many times around the ring.
    @Test func theOrderOfAClassIsKept() {
        var queue = OutgoingQueue()
        var expected: UInt8 = 0
        for number in 0..<1000 {
            #expect(push(&queue, control([UInt8(truncatingIfNeeded: number)], channel: 1), class: .video))
            if number % 3 == 2 {
                for _ in 0..<3 {
                    #expect(next(&queue).last == expected)
                    expected &+= 1
                }
            }
        }
    }

    /// Two channels of a class take turns, fragment by fragment.
    @Test func channelsOfAClassTakeTurns() {
        var queue = OutgoingQueue()
        for channel: UInt16 in [1, 4] {
            #expect(push(&queue, control([UInt8](repeating: 0, count: 40_000), channel: channel), class: .video))
        }
        #expect((0..<6).map { _ in next(&queue)[3] } == [1, 4, 1, 4, 1, 4])
        #expect(queue.isEmpty)
    }
}
