import GantryCore
import GantryPlatform

/// The meters of a connection's channels. Packets come on the I/O thread and, over UDP, on that of the datagrams.
final class FeedbackMeters: @unchecked Sendable {  // What varies is guarded by `lock`.
    private let lock = Lock()
    private var meters: [FeedbackMeter] = []
    private var next = MediaTimestamp(microseconds: 0)
    /// The first that was known. The producer looks at how delays change: a better estimate later would look like a queue, or hide one.
    private var offset: MediaDuration?

    /// With rate control on both ends: from now on.
    func start(_ channels: [UInt16]) {
        lock.withLock {
            // Those that go on count on: the producer passes over counts that fall.
            meters = channels.map { channel in
                meters.first { $0.channel == channel } ?? FeedbackMeter(channel: channel)
            }
        }
    }

    /// A piece of a packet came.
    func add(bytes count: Int, channel: UInt16) {
        lock.withLock {
            if let index = meters.firstIndex(where: { $0.channel == channel }) { meters[index].add(bytes: count) }
        }
    }

    /// The last byte of a packet came.
    func add(_ header: MediaHeader, arrived: MediaTimestamp, channel: UInt16) {
        lock.withLock {
            guard let index = meters.firstIndex(where: { $0.channel == channel }) else { return }
            meters[index].add(header, arrived: arrived)
        }
    }

    /// Calls `send` with what there is to tell, when it is time. When to be called again; nil: never.
    ///
    /// - Parameters:
    ///   - offset: the producer's clock minus ours; nil before it is known.
    ///   - dropped: packets of a channel that were thrown away here.
    func report(
        offset: MediaDuration?, now: MediaTimestamp, dropped: (UInt16) -> Int, send: (Feedback) -> Void
    ) -> MediaTimestamp? {
        lock.withLock {
            guard !meters.isEmpty else { return nil }
            guard now >= next else { return next }
            next = now + FeedbackMeter.interval
            self.offset = self.offset ?? offset
            for index in meters.indices {
                let lost = dropped(meters[index].channel)
                if let feedback = meters[index].report(offset: self.offset, dropped: lost, now: now) { send(feedback) }
            }
            return next
        }
    }
}
