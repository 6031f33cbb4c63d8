/// A media packet as a whole: RTP header, header extension, payload. What stands here is before SRTP.
///
/// ```
/// 12 RTP | 10 00 | words | 1 14 tag | [2 24 unit header, 2 bytes of padding] | payload
/// ```
package struct MediaDatagram {
    package let header: RTPHeader
    package let tag: UnitTag
    /// In the first packet of a unit.
    package let unitHeader: UnitHeader?
    /// Where the payload begins.
    package let payloadOffset: Int

    /// The two-byte form of header extensions (RFC 8285 section 4.3).
    private static let profile: UInt16 = 0x1000
    private static let tagOffset = RTPHeader.size + 4 + 2
    /// Bytes in front of the payload.
    package static let plainPrefix = tagOffset + UnitTag.size
    package static let firstPrefix = plainPrefix + 2 + UnitHeader.size + 2

    package static func prefix(isFirst: Bool) -> Int { isFirst ? firstPrefix : plainPrefix }

    /// Nil when it is no packet of ours.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let header = RTPHeader(bytes), header.hasExtension, bytes.count >= Self.plainPrefix,
            bytes.bigEndian(at: 12, as: UInt16.self) == Self.profile
        else { return nil }
        let end = RTPHeader.size + 4 + 4 * Int(bytes.bigEndian(at: 14, as: UInt16.self))
        guard end >= Self.plainPrefix, end <= bytes.count, bytes[16] == 1, Int(bytes[17]) == UnitTag.size,
            let tag = UnitTag(bytes.part(Self.tagOffset, UnitTag.size))
        else { return nil }
        self.header = header
        self.tag = tag
        payloadOffset = end
        let second = Self.plainPrefix
        if end >= Self.firstPrefix, bytes[second] == 2, Int(bytes[second + 1]) == UnitHeader.size {
            unitHeader = UnitHeader(bytes.part(second + 2, UnitHeader.size))
        } else {
            unitHeader = nil
        }
        guard (tag.index == 0) == (unitHeader != nil) else { return nil }
    }

    /// Writes all but the payload. `bytes` has room for it.
    package static func write(
        _ header: RTPHeader, _ tag: UnitTag, _ unit: UnitHeader?, to bytes: UnsafeMutableRawBufferPointer
    ) {
        guard bytes.count >= prefix(isFirst: unit != nil) else { return }
        header.write(to: bytes)
        let words = (prefix(isFirst: unit != nil) - RTPHeader.size - 4) / 4
        bytes.storeBigEndian(profile, at: 12)
        bytes.storeBigEndian(UInt16(truncatingIfNeeded: words), at: 14)
        bytes[16] = 1
        bytes[17] = UInt8(UnitTag.size)
        tag.write(to: bytes.part(tagOffset, UnitTag.size))
        guard let unit else { return }
        bytes[plainPrefix] = 2
        bytes[plainPrefix + 1] = UInt8(UnitHeader.size)
        unit.write(to: bytes.part(plainPrefix + 2, UnitHeader.size))
        bytes[firstPrefix - 2] = 0
        bytes[firstPrefix - 1] = 0
    }
}

extension UnsafeRawBufferPointer {
    /// The caller has checked that the part lies inside.
    func part(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer { .init(rebasing: self[offset..<offset + count]) }
}

extension UnsafeMutableRawBufferPointer {
    func part(_ offset: Int, _ count: Int) -> UnsafeMutableRawBufferPointer {
        .init(rebasing: self[offset..<offset + count])
    }
}
