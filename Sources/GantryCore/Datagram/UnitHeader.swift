/// What a unit is: element 2 of the header extension, in the unit's first packet only, 24 bytes. RTP's own time stamp is
/// too coarse for it, and says nothing of the capture.
///
/// ```
///  0                    8                    16           20       22      23  24
/// +--------------------+--------------------+------------+--------+-------+---+
/// |  presentation, i64 |    capture, i64    |  sequence  | epoch  | flags | 0 |
/// +--------------------+--------------------+------------+--------+-------+---+
/// flags: 02 KEY
/// ```
package struct UnitHeader: Hashable, Sendable {
    package static let size = 24
    private static let key = FrameFlags.key.rawValue

    package var media: MediaHeader

    package init(_ media: MediaHeader) { self.media = media }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        media = MediaHeader(
            sequence: bytes.bigEndian(at: 16),
            presentationTime: MediaTimestamp(microseconds: bytes.bigEndian(at: 0)),
            captureTime: MediaTimestamp(microseconds: bytes.bigEndian(at: 8)), epoch: bytes.bigEndian(at: 20),
            isKey: bytes[22] & Self.key != 0)
    }

    package func write(to bytes: UnsafeMutableRawBufferPointer) {
        guard bytes.count >= Self.size else { return }
        bytes.storeBigEndian(media.presentationTime.microseconds, at: 0)
        bytes.storeBigEndian(media.captureTime.microseconds, at: 8)
        bytes.storeBigEndian(media.sequence, at: 16)
        bytes.storeBigEndian(media.epoch, at: 20)
        bytes[22] = media.isKey ? Self.key : 0
        bytes[23] = 0
    }
}
