import GantryPlatform
import Testing

@Suite struct MediaPacketTests {
    private func append(_ bytes: [UInt8], to packet: MediaPacket) { bytes.withUnsafeBytes { packet.append($0) } }

    /// The bytes behind the payload, which readers of libavcodec touch.
    private func padding(of packet: MediaPacket) -> [UInt8] {
        guard let base = packet.bytes.baseAddress else { return [] }
        return Array(UnsafeRawBufferPointer(start: base + packet.count, count: MediaPacket.padding))
    }

    @Test func growsAndKeepsWhatItHas() {
        let packet = MediaPacket(capacity: 64)
        var expected: [UInt8] = []
        for part in 1...50 {
            let bytes = (0..<part).map { UInt8(truncatingIfNeeded: $0 &* part) }
            append(bytes, to: packet)
            expected += bytes
            #expect(padding(of: packet).allSatisfy { $0 == 0 })
        }
        #expect(packet.count == expected.count)
        #expect(Array(packet.bytes) == expected)
    }

    @Test func isEmptyAtFirstAndWhenAskedTo() {
        let packet = MediaPacket(capacity: 0)
        #expect(packet.bytes.isEmpty)
        #expect(padding(of: packet) == Array(repeating: 0, count: MediaPacket.padding))
        append(Array(repeating: 0xFF, count: 1000), to: packet)
        packet.removeAll()
        #expect(packet.count == 0)
        #expect(padding(of: packet).allSatisfy { $0 == 0 }, "no rest of the packet before")
    }

    @Test func keepsItsMemoryForTheNextPacket() {
        let packet = MediaPacket(capacity: 64)
        append(Array(repeating: 1, count: 100_000), to: packet)
        let address = packet.bytes.baseAddress
        packet.removeAll()
        append(Array(repeating: 2, count: 100_000), to: packet)
        #expect(packet.bytes.baseAddress == address)
    }

    @Test func appendingNothingChangesNothing() {
        let packet = MediaPacket()
        packet.append(UnsafeRawBufferPointer(start: nil, count: 0))
        append([], to: packet)
        #expect(packet.count == 0)
    }
}
