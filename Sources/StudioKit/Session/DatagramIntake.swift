import GantryCore
import GantryPlatform
import GantryTransport

/// The studio's side of media over UDP: answers the producer's offers. What an offer replaces ends.
final class DatagramIntake: @unchecked Sendable {  // What varies is guarded by `lock`.
    private let lock = Lock()
    private var receiver: DatagramReceiver?
    private var nextOffer = MediaTimestamp(microseconds: 0)
    private var isClosed = false
    private var past = StudioStatistics.UDPCounts()

    /// Each offer costs a socket and a thread: more often they are passed over.
    private static let offerInterval = MediaDuration.seconds(2)

    static var blocked: GantryError {
        GantryError(
            .udpBlocked,
            "No media comes over UDP: the producer does not offer it, or a firewall takes none. The transport \"auto\" uses TCP then."
        )
    }

    /// The answer to an offer; nil: none, media stays where it is. On the I/O thread.
    func answer(
        _ offer: CarrierOffer, sessionID: UInt64, exporter: [UInt8], path: DatagramPath,
        streams: [DatagramReceiver.Stream], isWantedAtOnce: Bool, now: MediaTimestamp
    ) -> CarrierBind? {
        guard let payload = offer.payload, offer.port > 0, !streams.isEmpty, now >= nextOffer else { return nil }
        nextOffer = now + Self.offerInterval
        stop()
        do throws(GantryError) {
            let receiver = try DatagramReceiver(
                path: path, keys: DatagramKeys(exporter: exporter, token: offer.token), streams: streams)
            try receiver.start(port: offer.port)
            let isWanted = lock.withLock {
                if !isClosed { self.receiver = receiver }
                return !isClosed
            }
            guard isWanted else {
                receiver.stop()
                return nil
            }
            return CarrierBind(
                sessionID: sessionID, token: offer.token, mask: offer.mask, port: receiver.port,
                payload: min(payload, UInt16(DatagramLimits.largestPayload)), isWantedAtOnce: isWantedAtOnce)
        } catch {
            Log.warning("\(error)")
            return nil
        }
    }

    /// Formats have changed.
    func wakeUp() { lock.withLock { receiver }?.wakeUp() }

    /// Datagrams have come, if only the producer's probes.
    var isOpen: Bool { (lock.withLock { receiver }?.statistics.0.accepted ?? 0) > 0 }

    /// Tells the producer by UDP, where media comes that way. False: it does not.
    func tell(_ feedback: Feedback) -> Bool { lock.withLock { receiver }?.tell(feedback) ?? false }

    /// When the producer was heard last by UDP.
    var heardAt: MediaTimestamp? { lock.withLock { receiver }?.lastHeard }

    /// Of all receivers so far.
    var counts: StudioStatistics.UDPCounts {
        lock.withLock { past + (receiver.map(Self.counts) ?? .init()) }
    }

    private static func counts(_ receiver: DatagramReceiver) -> StudioStatistics.UDPCounts {
        let (figures, streams) = receiver.statistics
        var counts = StudioStatistics.UDPCounts()
        counts.refused = figures.refused
        for stream in streams {
            counts.units += stream.units
            counts.expected += stream.expected
            counts.lost += max(0, stream.expected - stream.received)
            counts.repaired += stream.repaired
            counts.requested += stream.requested
        }
        return counts
    }

    private func stop() {
        let old = lock.withLock { receiver }
        old?.stop()
        lock.withLock {
            if let old, old === receiver { past = past + Self.counts(old) }
            receiver = nil
        }
    }

    /// The session ends: nothing comes out any more when this returns.
    func close() {
        lock.withLock { isClosed = true }
        stop()
    }
}
