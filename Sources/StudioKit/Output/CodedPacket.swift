public import GantryCore
package import GantryPlatform

/// A coded packet as a `PacketOutput` gets it: an access unit of H.264 (Annex B), a JPEG picture, or an Opus packet. Nothing
/// is copied. Read only; any thread. Holding it keeps its memory out of the session's pool, of some hundred packets: copy what
/// you need for longer than a moment.
public struct CodedPacket: Sendable {
    package let packet: MediaPacket

    package init(_ packet: MediaPacket) { self.packet = packet }

    /// How it is coded.
    public var codec: MediaCodec { packet.codec }
    /// Whether decoding can begin here. True of all sound, and of all JPEG pictures.
    public var isKeyFrame: Bool { packet.header.isKey || packet.codec != .h264 }
    /// When to show or play it, on the producer's clock.
    public var presentationTime: MediaTimestamp { packet.header.presentationTime }
    /// When it was captured, on the producer's clock.
    public var captureTime: MediaTimestamp { packet.header.captureTime }
    /// When its last byte arrived, on this machine's monotonic clock.
    public var arrivalTime: MediaTimestamp { packet.arrivalTime }
    /// Of its format: the number that `PacketOutput.formatChanged` gave with it.
    public var epoch: UInt16 { packet.header.epoch }
    /// Counts the packets of its stream, and wraps; a gap is a loss.
    public var sequence: UInt32 { packet.header.sequence }
    /// Bytes.
    public var count: Int { packet.count }

    /// Calls `body` with the bytes, valid during the call.
    public func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { try body(packet.bytes) }
}
