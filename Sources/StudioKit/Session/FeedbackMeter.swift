import GantryCore
import GantryPlatform

/// What the studio tells the producer of one channel every 50 ms. A plain value of the I/O thread.
struct FeedbackMeter {
    static let interval = MediaDuration.milliseconds(50)
    /// Where nothing new has come it says so now and then: that it is there, and reads.
    private static let longestInterval = MediaDuration.milliseconds(500)

    let channel: UInt16
    private var newest: (header: MediaHeader, arrival: MediaTimestamp)?
    private var isNew = false
    private var bytes: UInt64 = 0
    private var jitter = JitterEstimator()
    private var lastReport = MediaTimestamp(microseconds: 0)

    init(channel: UInt16) { self.channel = channel }

    /// A piece of a packet came; pieces tell more of the link's rate than whole packets.
    mutating func add(bytes count: Int) { bytes &+= UInt64(clamping: count) }

    /// The last byte of a packet came. What is older than the newest is passed over: where media changes its way, both bring some.
    mutating func add(_ header: MediaHeader, arrived: MediaTimestamp) {
        if let newest, newest.header.sequence &- header.sequence < 1 << 16 { return }
        newest = (header, arrived)
        isNew = true
        jitter.add(sent: header.captureTime, arrived: arrived)
    }

    /// Nil when there is nothing to tell.
    ///
    /// - Parameters:
    ///   - offset: the producer's clock minus ours, always the same; nil before it is known.
    ///   - dropped: packets that were thrown away here.
    mutating func report(offset: MediaDuration?, dropped: Int, now: MediaTimestamp) -> Feedback? {
        guard let newest, isNew || now - lastReport >= Self.longestInterval else { return nil }
        isNew = false
        lastReport = now
        let delay = offset.map { Int32(clamping: ((newest.arrival - newest.header.captureTime) + $0).microseconds) }
        return Feedback(
            channel: channel, sequence: newest.header.sequence, presentationTime: newest.header.presentationTime,
            delay: delay, jitter: UInt32(clamping: jitter.jitter.microseconds), bytes: bytes, late: 0,
            dropped: UInt32(clamping: dropped))
    }
}
