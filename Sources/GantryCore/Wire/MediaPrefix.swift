/// The 22 bytes in front of a video or audio payload, big-endian, in the first fragment or fragments of the message.
///
/// ```
///  0            4                    12                   20       22
/// +------------+--------------------+--------------------+--------+
/// |  sequence  |  presentation, µs  |    capture, µs     | epoch  |
/// +------------+--------------------+--------------------+--------+
/// ```
package struct MediaPrefix: Hashable, Sendable {
    package var sequence: UInt32
    /// Two's complement, on the producer's clock.
    package var presentationTime: UInt64
    package var captureTime: UInt64
    package var epoch: UInt16

    package static let size = WireLimits.mediaPrefixSize

    package init(sequence: UInt32, presentationTime: UInt64, captureTime: UInt64, epoch: UInt16) {
        self.sequence = sequence
        self.presentationTime = presentationTime
        self.captureTime = captureTime
        self.epoch = epoch
    }

    package init(_ header: MediaHeader) {
        sequence = header.sequence
        presentationTime = UInt64(bitPattern: header.presentationTime.microseconds)
        captureTime = UInt64(bitPattern: header.captureTime.microseconds)
        epoch = header.epoch
    }

    /// Nil when fewer than 22 bytes are given.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size else { return nil }
        sequence = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        presentationTime = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
        captureTime = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
        epoch = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 20, as: UInt16.self))
    }

    /// Writes the 22 bytes; false (and nothing written) when there is less room.
    @discardableResult
    package func write(to bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard bytes.count >= Self.size else { return false }
        bytes.storeBytes(of: sequence.bigEndian, toByteOffset: 0, as: UInt32.self)
        bytes.storeBytes(of: presentationTime.bigEndian, toByteOffset: 4, as: UInt64.self)
        bytes.storeBytes(of: captureTime.bigEndian, toByteOffset: 12, as: UInt64.self)
        bytes.storeBytes(of: epoch.bigEndian, toByteOffset: 20, as: UInt16.self)
        return true
    }

    /// `flags` are those of the frame: KEY makes the packet a key packet.
    package func header(flags: FrameFlags) -> MediaHeader {
        MediaHeader(
            sequence: sequence,
            presentationTime: MediaTimestamp(microseconds: Int64(bitPattern: presentationTime)),
            captureTime: MediaTimestamp(microseconds: Int64(bitPattern: captureTime)), epoch: epoch,
            isKey: flags.contains(.key))
    }
}
