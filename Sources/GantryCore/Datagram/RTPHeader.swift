/// The fixed header of RTP, 12 bytes, RFC 3550 section 5.1. Without contributing sources; an extension may follow.
package struct RTPHeader: Hashable, Sendable {
    package var hasExtension: Bool
    package var marker: Bool
    package var payloadType: UInt8
    package var sequence: UInt16
    package var timestamp: UInt32
    package var source: UInt32

    package static let size = 12

    package init(
        hasExtension: Bool = false, marker: Bool = false, payloadType: UInt8, sequence: UInt16, timestamp: UInt32,
        source: UInt32
    ) {
        self.hasExtension = hasExtension
        self.marker = marker
        self.payloadType = payloadType
        self.sequence = sequence
        self.timestamp = timestamp
        self.source = source
    }

    /// Nil for anything but version 2 without padding and contributing sources.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size, bytes[0] & 0xEF == 0x80 else { return nil }
        hasExtension = bytes[0] & 0x10 != 0
        marker = bytes[1] & 0x80 != 0
        payloadType = bytes[1] & 0x7F
        sequence = bytes.bigEndian(at: 2)
        timestamp = bytes.bigEndian(at: 4)
        source = bytes.bigEndian(at: 8)
    }

    /// Writes 12 bytes; false, and nothing written, when there is less room.
    @discardableResult
    package func write(to bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard bytes.count >= Self.size else { return false }
        bytes[0] = 0x80 | (hasExtension ? 0x10 : 0)
        bytes[1] = (marker ? 0x80 : 0) | payloadType & 0x7F
        bytes.storeBigEndian(sequence, at: 2)
        bytes.storeBigEndian(timestamp, at: 4)
        bytes.storeBigEndian(source, at: 8)
        return true
    }
}

extension UnsafeRawBufferPointer {
    /// The caller has checked that the number lies inside.
    func bigEndian<T: FixedWidthInteger>(at offset: Int, as _: T.Type = T.self) -> T {
        T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The caller has checked that the number has room.
    func storeBigEndian<T: FixedWidthInteger>(_ value: T, at offset: Int) {
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: T.self)
    }
}
