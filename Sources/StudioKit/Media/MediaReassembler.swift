import GantryCore
import GantryPlatform

/// Puts the fragments of one media channel together, in pooled memory. I/O thread only.
///
/// A class: changing a value inside a dictionary takes three pieces of heap memory each time.
final class MediaReassembler {
    let codec: MediaCodec
    private let pool: ReusePool<MediaPacket>
    private var prefix = MediaPrefixReader()
    private var packet: MediaPacket?

    /// Packets that found no free memory, because an output holds too many.
    private(set) var droppedCount = 0

    init(codec: MediaCodec, pool: ReusePool<MediaPacket>) {
        self.codec = codec
        self.pool = pool
    }

    /// Returns the packet that this chunk completes, or nil.
    func consume(_ chunk: FrameChunk) throws(GantryError) -> MediaPacket? {
        if chunk.startsMessage {
            prefix = MediaPrefixReader()
            packet = pool.take()
            packet?.removeAll()
            if packet == nil { droppedCount += 1 }
        }
        let payload = try prefix.consume(chunk)
        packet = packet?.appending(payload)
        guard chunk.endsMessage else { return nil }
        guard let header = prefix.prefix else {
            throw GantryError(.protocolError, "The producer sent a media message without its header.")
        }
        defer { packet = nil }
        packet?.header = header.header(flags: chunk.flags)
        packet?.codec = codec
        packet?.arrivalTime = MonotonicClock.now()
        return packet
    }
}
