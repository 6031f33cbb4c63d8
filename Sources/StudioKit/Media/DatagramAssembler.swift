import GantryCore
import GantryPlatform

/// Makes packets in pooled memory of the units that come by datagrams, and tells how they come. The thread "studio-udp" only.
final class DatagramAssembler: StreamSink {
    private let channel: UInt16
    private let codec: MediaCodec
    private let pool: ReusePool<MediaPacket>
    private let merge: MediaMerge
    private let meters: FeedbackMeters
    private let deliver: (MediaPacket) -> Void
    private let needsKeyFrame: () -> Void
    private var packet: MediaPacket?
    private var header = MediaHeader()
    private var last: UInt32?
    /// Something that the next pictures refer to is missing.
    private var awaitsKeyFrame = false

    /// - Parameters:
    ///   - deliver: called while `merge` holds its lock.
    ///   - needsKeyFrame: a picture was lost.
    init(
        channel: UInt16, codec: MediaCodec, pool: ReusePool<MediaPacket>, merge: MediaMerge,
        meters: FeedbackMeters, deliver: @escaping (MediaPacket) -> Void, needsKeyFrame: @escaping () -> Void
    ) {
        self.channel = channel
        self.codec = codec
        self.pool = pool
        self.merge = merge
        self.meters = meters
        self.deliver = deliver
        self.needsKeyFrame = needsKeyFrame
    }

    func mediaArrived(bytes: Int) { meters.add(bytes: bytes, channel: channel) }

    func unitArrived(_ header: MediaHeader, now: MediaTimestamp) {
        meters.add(header, arrived: now, channel: channel)
    }

    func unitBegins(_ header: MediaHeader, now: MediaTimestamp) -> Bool {
        guard merge.isReady(header, channel: channel, now: now) else { return false }
        self.header = header
        // The producer leaves out only what a key frame follows.
        if let last, header.sequence != last &+ 1 { unitLost() }
        last = header.sequence
        if header.isKey { awaitsKeyFrame = false }
        packet = awaitsKeyFrame ? nil : pool.take()
        packet?.removeAll()
        if packet == nil, !awaitsKeyFrame { unitLost() }
        return true
    }

    func unitContinues(_ bytes: UnsafeRawBufferPointer) {
        guard let packet else { return }
        guard packet.count + bytes.count <= WireLimits.maximumVideo else {
            self.packet = nil
            return unitLost()
        }
        self.packet = packet.appending(bytes)
    }

    func unitEnds(isWhole: Bool) {
        defer { packet = nil }
        guard let packet else {
            if awaitsKeyFrame { needsKeyFrame() }
            return
        }
        guard isWhole else { return unitLost() }
        packet.header = header
        packet.codec = codec
        packet.arrivalTime = MonotonicClock.now()
        merge.pass(packet, channel: channel, isDatagram: true, deliver)
    }

    func unitLost() {
        guard codec.isVideo else { return }
        awaitsKeyFrame = true
        needsKeyFrame()
    }
}
