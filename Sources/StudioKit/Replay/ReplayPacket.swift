import GantryCore
import GantryPlatform

/// A packet in a replay buffer. Holding it keeps its memory. A plain value.
struct ReplayPacket: Sendable {
    let header: MediaHeader
    let codec: MediaCodec
    let duration: MediaDuration
    let arrivalTime: MediaTimestamp
    /// Counts the connections: a new one begins with what no decoder knows.
    let connection: Int
    fileprivate let chunk: ReplayChunk
    fileprivate let offset: Int
    fileprivate let count: Int

    init(_ packet: MediaPacket, connection: Int, chunk: ReplayChunk, offset: Int) {
        header = packet.header
        codec = packet.codec
        duration = packet.duration
        arrivalTime = packet.arrivalTime
        self.connection = connection
        self.chunk = chunk
        self.offset = offset
        count = packet.count
    }

    /// Makes `packet` the one that was taken in.
    func copy(to packet: MediaPacket) {
        packet.removeAll()
        packet.header = header
        packet.codec = codec
        packet.duration = duration
        packet.arrivalTime = arrivalTime
        packet.append(chunk.bytes(offset, count))
    }
}
