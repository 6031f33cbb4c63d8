import COpus
package import GantryCore
package import GantryPlatform

/// Makes 48 kHz stereo blocks of Opus packets (RFC 6716). One thread at a time calls it.
///
/// A gap in the sequence numbers is filled with concealment, at most `maximumConcealed` packets; a longer gap is left
/// to the stamps. A packet that cannot be read counts as lost.
package final class OpusAudioDecoder {
    /// 100 ms at 10 ms a packet: beyond that concealment has long faded to silence.
    package static let maximumConcealed = 10
    /// Samples of each channel in the longest packet: 120 ms (RFC 6716 section 3.1).
    package static let maximumSamples = 5760

    /// Packets that were made up because they were lost or damaged.
    package private(set) var concealedCount = 0
    /// Blocks that were thrown away because all of the pool was in use.
    package private(set) var droppedCount = 0

    private let decoder: OpaquePointer
    private let pool: ReusePool<AudioBlock>
    private var lastSequence: UInt32?
    /// Samples of the last good packet: how long a lost one is taken to have been.
    private var samplesPerPacket: CInt = 480

    /// - Throws: `decoder` when memory is out.
    package init(poolSize: Int = 32) throws(GantryError) {
        var status: CInt = 0
        guard let decoder = opus_decoder_create(CInt(AudioBlock.sampleRate), CInt(AudioBlock.channels), &status) else {
            throw GantryError(
                .decoder, "The sound decoder cannot start.", cause: String(cString: opus_strerror(status)))
        }
        self.decoder = decoder
        pool = ReusePool(capacity: max(poolSize, Self.maximumConcealed + 2)) {
            AudioBlock(capacity: Self.maximumSamples)
        }
    }

    deinit { opus_decoder_destroy(decoder) }

    /// Decodes one packet. `deliver` gets made-up blocks for lost packets first, then the packet's own block, each
    /// with its stamp; it is called on this thread before the function returns.
    package func decode(_ packet: MediaPacket, deliver: (AudioBlock) -> Void) {
        let start = packet.header.presentationTime
        let lost = lostPackets(before: packet.header.sequence)
        for index in 0..<lost {
            let back = Int64(lost - index) * Int64(samplesPerPacket) * 1_000_000 / Int64(AudioBlock.sampleRate)
            conceal(at: start - .microseconds(back), packet, deliver)
        }
        guard let block = pool.take() else {
            droppedCount &+= 1
            return
        }
        guard let samples = block.samples.baseAddress else { return }
        let bytes = packet.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let size = Int32(exactly: packet.count) ?? 0
        // An empty packet would mean concealment to libopus.
        let count =
            packet.codec == .opus && size > 0
            ? opus_decode_float(decoder, bytes, size, samples, CInt(block.capacity), 0) : -1
        guard count > 0 else { return conceal(at: start, packet, deliver) }
        samplesPerPacket = count
        block.count = Int(count)
        block.presentationTime = start
        block.arrivalTime = packet.arrivalTime
        deliver(block)
    }

    /// Forgets what came before: for a new session.
    package func reset() {
        lastSequence = nil
        COpus_decoder_reset(decoder)
    }

    private func conceal(at time: MediaTimestamp, _ packet: MediaPacket, _ deliver: (AudioBlock) -> Void) {
        guard let block = pool.take(), let samples = block.samples.baseAddress else {
            droppedCount &+= 1
            return
        }
        let count = opus_decode_float(decoder, nil, 0, samples, samplesPerPacket, 0)
        guard count > 0 else { return }
        concealedCount &+= 1
        block.count = Int(count)
        block.presentationTime = time
        block.arrivalTime = packet.arrivalTime
        deliver(block)
    }

    /// Packets to make up before this one: none when the gap is too long, or the number went backwards.
    private func lostPackets(before sequence: UInt32) -> Int {
        defer { lastSequence = sequence }
        guard let last = lastSequence else { return 0 }
        let gap = Int(sequence &- last &- 1)
        return gap <= Self.maximumConcealed ? gap : 0
    }
}
