package import GantryCore
package import GantryPlatform

/// Takes pictures that the application's device has coded: JPEG, or access units of H.264 in Annex B form. Looks whether they
/// are what they should be, and copies or decodes them. Any thread, one picture at a time.
package final class CodedInput: @unchecked Sendable {  // All state is guarded by `lock`, held while it decodes.
    package enum Outcome {
        /// For those who decode themselves.
        case packet(MediaPacket)
        case picture(Picture)
        /// What it refers to is missing; there is no picture before the next key frame.
        case waiting
        /// Everything is in use.
        case full
    }

    package let codec: MediaCodec
    private let lock = Lock()
    private let packets: CameraPackets
    /// Made with the first picture that is decoded.
    private var decoder: VideoDecoder?
    private var sequence: UInt32 = 0

    private static let poolSize = 6

    /// - Parameter codec: `.h264` or `.mjpeg`.
    package init(codec: MediaCodec) {
        self.codec = codec
        packets = CameraPackets(codec: codec, capacity: Self.poolSize)
    }

    /// A copy, with its number, stamps and `isKey`.
    ///
    /// - Throws: `invalidArgument` for what is no such picture.
    package func packet(_ bytes: UnsafeRawBufferPointer, stamp: MediaTimestamp) throws(GantryError) -> Outcome {
        try lock.withLock { () throws(GantryError) in try pack(bytes, stamp) }
    }

    /// - Throws: `invalidArgument` for what is no such picture, or is outside 16x16…8192x8192; `unsupportedCodec`, `decoder`.
    package func decode(_ bytes: UnsafeRawBufferPointer, stamp: MediaTimestamp) throws(GantryError) -> Outcome {
        try lock.withLock { () throws(GantryError) in
            guard case .packet(let packet) = try pack(bytes, stamp) else { return .full }
            let decoder: VideoDecoder
            if let kept = self.decoder {
                decoder = kept
            } else {
                decoder = try VideoDecoder(codec: codec, poolSize: Self.poolSize)
                self.decoder = decoder
            }
            let (dropped, damaged) = (decoder.droppedCount, decoder.damagedCount)
            let mustWait = decoder.needsKeyFrame && !packet.header.isKey
            if let picture = try decoder.decode(packet) {
                guard RawFrame.sides ~= picture.width, RawFrame.sides ~= picture.height else {
                    throw GantryError(
                        .invalidArgument,
                        "A picture of \(picture.width)x\(picture.height) is outside 16x16…8192x8192.")
                }
                return .picture(picture)
            }
            if decoder.droppedCount != dropped { return .full }
            if decoder.damagedCount != damaged, !mustWait { throw damage }
            return .waiting
        }
    }

    /// Nobody looks at what comes: decoding goes on with the next key frame.
    package func skip() {
        lock.withLock {
            sequence &+= 1
            decoder = nil
        }
    }

    /// Nothing comes out before a key frame.
    package var needsKeyFrame: Bool { lock.withLock { codec == .h264 && decoder?.needsKeyFrame != false } }

    private func pack(_ bytes: UnsafeRawBufferPointer, _ stamp: MediaTimestamp) throws(GantryError) -> Outcome {
        defer { sequence &+= 1 }
        switch packets.pack(bytes, sequence: sequence, stamp: stamp) {
        case .packet(let packet): return .packet(packet)
        case .full: return .full
        case .damaged: throw damage
        }
    }

    private var damage: GantryError {
        GantryError(
            .invalidArgument,
            codec == .mjpeg
                ? "The bytes are no JPEG picture: it begins with FF D8 and is whole."
                : "The bytes are no access unit of H.264 in Annex B form: whole, one picture, units behind 00 00 01, SPS and "
                    + "PPS in front of the first key frame.")
    }
}
