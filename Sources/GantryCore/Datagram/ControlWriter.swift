/// Writes RTCP packets one behind the other into a buffer. What has no room any more is left out.
package struct ControlWriter {
    private let buffer: UnsafeMutableRawBufferPointer
    private let source: UInt32
    /// Bytes written.
    package private(set) var count = 0

    /// - Parameter source: SSRC of the sender.
    package init(_ buffer: UnsafeMutableRawBufferPointer, source: UInt32) {
        self.buffer = buffer
        self.source = source
    }

    private mutating func begin(_ type: UInt8, _ subtype: UInt8, size: Int) -> UnsafeMutableRawBufferPointer? {
        guard count + size <= buffer.count else { return nil }
        let packet = buffer.part(count, size)
        packet[0] = 0x80 | subtype & 0x1F
        packet[1] = type
        packet.storeBigEndian(UInt16(truncatingIfNeeded: size / 4 - 1), at: 2)
        packet.storeBigEndian(source, at: 4)
        count += size
        return packet
    }

    /// A receiver report with one block.
    package mutating func report(_ report: ControlPacket.Report) {
        guard let packet = begin(ControlPacket.receiverReport, 1, size: 8 + ControlPacket.Report.size) else { return }
        packet.storeBigEndian(report.source, at: 8)
        packet.storeBigEndian(UInt32(report.fractionLost) << 24 | report.lost & 0xFF_FFFF, at: 12)
        packet.storeBigEndian(report.highest, at: 16)
        packet.storeBigEndian(report.jitter, at: 20)
        packet.storeBigEndian(UInt64(0), at: 24)
    }

    /// Asks for packets again; `missing` are extended sequence numbers in ascending order.
    package mutating func request(_ missing: [Int64], of stream: UInt32) {
        guard let first = missing.first else { return }
        var entries = 1
        var base = first
        for sequence in missing where sequence > base + 16 {
            entries += 1
            base = sequence
        }
        let size = 12 + 4 * entries
        guard let packet = begin(ControlPacket.transportFeedback, ControlPacket.genericNACK, size: size) else { return }
        packet.storeBigEndian(stream, at: 8)
        var offset = 12
        base = first
        var bits: UInt16 = 0
        for sequence in missing.dropFirst() {
            if sequence > base + 16 {
                packet.storeBigEndian(UInt16(truncatingIfNeeded: base), at: offset)
                packet.storeBigEndian(bits, at: offset + 2)
                offset += 4
                base = sequence
                bits = 0
            } else if sequence > base {
                bits |= 1 << UInt16(sequence - base - 1)
            }
        }
        packet.storeBigEndian(UInt16(truncatingIfNeeded: base), at: offset)
        packet.storeBigEndian(bits, at: offset + 2)
    }

    package mutating func hello() { _ = application(.hello, content: 0) }

    package mutating func probed(number: UInt32, size: Int) {
        guard let content = application(.probed, content: 8) else { return }
        content.storeBigEndian(number, at: 0)
        content.storeBigEndian(UInt16(clamping: size), at: 4)
        content.storeBigEndian(UInt16(0), at: 6)
    }

    package mutating func sent(_ stream: UInt32, highest: UInt32) {
        guard let content = application(.sent, content: 8) else { return }
        content.storeBigEndian(stream, at: 0)
        content.storeBigEndian(highest, at: 4)
    }

    package mutating func feedback(_ feedback: Feedback) {
        let size = feedback.encodedSize
        let room = (2 + size + 3) & ~3
        guard let content = application(.feedback, content: room) else { return }
        content.initializeMemory(as: UInt8.self, repeating: 0)
        content.storeBigEndian(UInt16(clamping: size), at: 0)
        feedback.write(to: content.part(2, size))
    }

    private mutating func application(
        _ kind: ControlPacket.Kind, content: Int
    ) -> UnsafeMutableRawBufferPointer? {
        guard let packet = begin(ControlPacket.application, kind.rawValue, size: 12 + content) else { return nil }
        packet.storeBigEndian(ControlPacket.name, at: 8)
        return packet.part(12, content)
    }
}
