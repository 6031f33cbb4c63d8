/// Gathers the pieces of everything but VIDEO and AUDIO into whole payloads.
///
/// The sizes are bounded by `FrameDecoder`, whose pieces it takes: at most 64 KiB in each of nine channels. Memory is
/// kept for the next message. Owned by the thread that reads the connection.
package struct MessageAssembler: Sendable {
    private var payloads: [[UInt8]] = Array(repeating: [], count: Int(WireLimits.highestChannel) + 1)

    package init() {}

    /// Takes a piece; at the end of a message calls `deliver` with its type, flags, channel and whole payload.
    package mutating func consume(
        _ chunk: FrameChunk,
        _ deliver: (MessageType, FrameFlags, UInt16, [UInt8]) throws(GantryError) -> Void
    ) throws(GantryError) {
        let index = Int(chunk.channel)
        guard !chunk.type.isMedia, payloads.indices.contains(index) else { return }
        if chunk.startsMessage { payloads[index].removeAll(keepingCapacity: true) }
        payloads[index].append(contentsOf: chunk.payload)
        if chunk.endsMessage { try deliver(chunk.type, chunk.flags, chunk.channel, payloads[index]) }
    }
}
