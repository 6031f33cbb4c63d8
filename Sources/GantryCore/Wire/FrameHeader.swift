/// The eight bytes in front of every fragment, big-endian.
///
/// ```
///  0        1        2        3        4        5        6        7
/// +--------+--------+--------+--------+--------+--------+--------+--------+
/// |  type  | flags  |     channel     |              length               |
/// +--------+--------+--------+--------+--------+--------+--------+--------+
/// ```
package struct FrameHeader: Hashable, Sendable {
    package var type: MessageType
    package var flags: FrameFlags
    package var channel: UInt16
    /// Bytes of payload that follow.
    package var length: UInt32

    package static let size = WireLimits.headerSize

    package init(type: MessageType, flags: FrameFlags = [], channel: UInt16 = 0, length: UInt32) {
        self.type = type
        self.flags = flags
        self.channel = channel
        self.length = length
    }

    /// Of the eight bytes read as one big-endian number.
    package init(word: UInt64) {
        type = MessageType(rawValue: UInt8(truncatingIfNeeded: word >> 56))
        flags = FrameFlags(rawValue: UInt8(truncatingIfNeeded: word >> 48))
        channel = UInt16(truncatingIfNeeded: word >> 32)
        length = UInt32(truncatingIfNeeded: word)
    }

    /// Nil when fewer than eight bytes are given.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size else { return nil }
        self.init(word: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    package var word: UInt64 {
        UInt64(type.rawValue) << 56 | UInt64(flags.rawValue) << 48 | UInt64(channel) << 32 | UInt64(length)
    }

    /// Writes the eight bytes; false (and nothing written) when there is less room.
    @discardableResult
    package func write(to bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard bytes.count >= Self.size else { return false }
        bytes.storeBytes(of: word.bigEndian, as: UInt64.self)
        return true
    }

    package var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
}
