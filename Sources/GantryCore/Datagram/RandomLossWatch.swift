/// Decides from the state of a TCP connection whether its packets are lost on the way without a queue: on a radio, say. That is what
/// parity helps against, and TCP makes slow. Losses of a queue that is full mean that less must be sent. Pure.
package struct RandomLossWatch: Sendable {
    /// What the kernel knows of a TCP connection.
    package struct Sample: Hashable, Sendable {
        /// Segments that were sent again since the beginning.
        package var retransmissions: UInt32
        /// Smoothed.
        package var roundTrip: MediaDuration

        package init(retransmissions: UInt32, roundTrip: MediaDuration) {
            self.retransmissions = retransmissions
            self.roundTrip = roundTrip
        }
    }

    package static let interval = MediaDuration.milliseconds(100)
    /// So many within `memory` are no accident.
    private static let enough = 3.0
    private static let memory = 10.0
    /// Above the smallest round trip: a queue. Smaller ones come and go when segments are sent again.
    private static let queue = MediaDuration.milliseconds(40)
    /// A queue that overflows shows in the smoothed round trip a moment after the first loss, and for a while after the last.
    private static let before = MediaDuration.milliseconds(400)
    private static let after = MediaDuration.seconds(2)

    private var last: UInt32?
    private var lastTime = MediaTimestamp(microseconds: 0)
    private var smallest: MediaDuration?
    private var recent = 0.0
    private var firstLoss: MediaTimestamp?
    private var lastQueue: MediaTimestamp?

    package init() {}

    /// Call it every `interval`. True: packets are lost, and no queue is to blame.
    package mutating func add(_ sample: Sample, now: MediaTimestamp) -> Bool {
        // A smoothed value of 0: nothing has been measured yet.
        if sample.roundTrip > .zero { smallest = min(smallest ?? sample.roundTrip, sample.roundTrip) }
        let age = min(max((now - lastTime).seconds, 0), Self.memory)
        let new = last.map { sample.retransmissions &- $0 } ?? 0
        last = sample.retransmissions
        lastTime = now
        recent *= 1 - age / Self.memory
        if sample.roundTrip - (smallest ?? sample.roundTrip) > Self.queue { lastQueue = now }
        if let lastQueue, now - lastQueue < Self.after {
            recent = 0
            firstLoss = nil
            return false
        }
        if new > 0, new < 1 << 16 {
            recent += Double(new)
            firstLoss = firstLoss ?? now
        }
        return recent >= Self.enough && firstLoss.map { now - $0 >= Self.before } ?? false
    }
}
