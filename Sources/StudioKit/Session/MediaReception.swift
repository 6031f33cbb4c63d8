import GantryCore
import GantryPlatform
import GantryTransport

/// The media of one connection of a studio, as it comes over the connection and over UDP beside it: packets are put together, brought
/// into one order, and counted for FEEDBACK.
///
/// The I/O thread of the connection, except where it says otherwise. Datagrams come on "studio-udp".
final class MediaReception: @unchecked Sendable {  // The I/O thread; `intake`, `merge` and `meters` guard themselves.
    private let intake = DatagramIntake()
    private let merge = MediaMerge()
    /// Of the channels that we receive; empty when the producer takes no FEEDBACK.
    private let meters = FeedbackMeters()
    private var assemblers: [UInt16: MediaReassembler] = [:]
    private let videoPackets = ReusePool<MediaPacket>(capacity: 320) { MediaPacket() }
    private let audioPackets = ReusePool<MediaPacket>(capacity: 640) { MediaPacket(capacity: 1500) }

    // MARK: Channels

    func add(_ channel: UInt16, _ codec: MediaCodec) {
        assemblers[channel] = MediaReassembler(codec: codec, pool: pool(codec))
    }

    func remove(_ channel: UInt16) { assemblers[channel] = nil }

    private func pool(_ codec: MediaCodec) -> ReusePool<MediaPacket> { codec.isVideo ? videoPackets : audioPackets }

    /// Nil: it is not received.
    func codec(of channel: UInt16) -> MediaCodec? { assemblers[channel]?.codec }

    /// Whether any of them is received; bit n is channel n.
    func receives(_ mask: UInt16) -> Bool { assemblers.keys.contains { $0 < 16 && mask & 1 << $0 != 0 } }

    /// The outputs know this format: datagrams of it are handed on from now on.
    func formatChanged(_ channel: UInt16, epoch: UInt16) {
        merge.formatChanged(channel, epoch: epoch)
        intake.wakeUp()
    }

    /// Tells outputs what they must know, while none gets a packet.
    func tell(_ body: () -> Void) { merge.betweenPackets(body) }

    // MARK: What comes

    /// A piece of media over the connection.
    ///
    /// - Parameter deliver: gets the packet that it completes, with the order held still.
    func receive(_ chunk: FrameChunk, deliver: (MediaPacket) -> Void) throws(GantryError) {
        meters.add(bytes: chunk.payload.count, channel: chunk.channel)
        guard let packet = try assemblers[chunk.channel]?.consume(chunk) else { return }
        meters.add(packet.header, arrived: packet.arrivalTime, channel: chunk.channel)
        merge.pass(packet, channel: chunk.channel, isDatagram: false, deliver)
    }

    /// The answer to an offer of media over UDP; nil: none, it stays where it is.
    ///
    /// - Parameters:
    ///   - deliver: gets each packet on "studio-udp", with the order held still.
    ///   - needsKeyFrame: a picture was lost; called there too.
    func answer(
        _ offer: CarrierOffer, sessionID: UInt64, exporter: [UInt8], path: DatagramPath, isWantedAtOnce: Bool,
        deliver: @escaping (MediaPacket) -> Void, needsKeyFrame: @escaping () -> Void
    ) -> CarrierBind? {
        let taken = assemblers.filter { $0.key < 16 && offer.mask & 1 << $0.key != 0 && $0.value.codec != .mjpeg }
        let streams = taken.map { channel, assembler in
            DatagramReceiver.Stream(
                channel: channel, isVideo: assembler.codec.isVideo,
                sink: DatagramAssembler(
                    channel: channel, codec: assembler.codec, pool: pool(assembler.codec), merge: merge,
                    meters: meters, deliver: deliver, needsKeyFrame: needsKeyFrame))
        }
        return intake.answer(
            offer, sessionID: sessionID, exporter: exporter, path: path, streams: streams,
            isWantedAtOnce: isWantedAtOnce, now: MonotonicClock.now())
    }

    // MARK: FEEDBACK

    /// With rate control on both ends: from now on.
    func startFeedback(_ channels: [UInt16]) { meters.start(channels) }

    /// Calls `send` with what there is to tell, when it is time, and whether it was told by UDP, where media comes that way. When to
    /// be called again; nil: never.
    ///
    /// - Parameter dropped: pictures, or packets of sound, that were thrown away here.
    func report(
        offset: MediaDuration?, now: MediaTimestamp, dropped: (_ isVideo: Bool) -> Int,
        send: (_ feedback: Feedback, _ isTold: Bool) -> Void
    ) -> MediaTimestamp? {
        meters.report(
            offset: offset, now: now, dropped: { dropped(codec(of: $0)?.isVideo == true) },
            send: { send($0, intake.tell($0)) })
    }

    // MARK: Any thread

    /// Datagrams have come, if only the producer's probes.
    var hasDatagrams: Bool { intake.isOpen }
    var datagramHeardAt: MediaTimestamp? { intake.heardAt }
    var datagramCounts: StudioStatistics.UDPCounts { intake.counts }
    /// No datagram is handed on any more when this returns.
    func close() { intake.close() }
}
