import GantryCore
import GantryTestSupport

/// One direction of a network in virtual time: delay, loss, order, copies. Datagrams come out when their time has come.
struct VirtualPath {
    struct Faults {
        var delay = MediaDuration.milliseconds(10)
        /// Part that is lost, each by itself.
        var loss = 0.0
        /// Chance of a burst at each datagram, and how many it takes.
        var burst = (chance: 0.0, length: 0)
        /// Part that is late by up to `lateness`.
        var late = 0.0
        var lateness = MediaDuration.milliseconds(3)
        var doubled = 0.0
        /// Nothing passes from here to there.
        var outage: Range<Int64>?
    }

    var faults: Faults
    private var random: SeededRandom
    private var inside: [(at: MediaTimestamp, order: Int, bytes: [UInt8])] = []
    private var order = 0
    private var burstLeft = 0
    private(set) var sent = 0
    private(set) var lost = 0
    private(set) var bytes = 0

    init(_ faults: Faults, seed: UInt64) {
        self.faults = faults
        random = SeededRandom(seed: seed)
    }

    private mutating func happens(_ chance: Double) -> Bool {
        chance > 0 && Double.random(in: 0..<1, using: &random) < chance
    }

    mutating func send(_ datagram: UnsafeRawBufferPointer, now: MediaTimestamp) {
        sent += 1
        bytes += datagram.count
        if burstLeft == 0, happens(faults.burst.chance) { burstLeft = faults.burst.length }
        if burstLeft > 0 {
            burstLeft -= 1
            lost += 1
            return
        }
        if happens(faults.loss) || faults.outage?.contains(now.microseconds) == true {
            lost += 1
            return
        }
        for _ in 0..<(happens(faults.doubled) ? 2 : 1) {
            var at = now + faults.delay
            if happens(faults.late) {
                at = at + MediaDuration(microseconds: .random(in: 0...faults.lateness.microseconds, using: &random))
            }
            inside.append((at, order, Array(datagram)))
            order += 1
        }
    }

    /// What has arrived by now, in the order of arrival.
    mutating func arrived(now: MediaTimestamp) -> [[UInt8]] {
        guard inside.contains(where: { $0.at <= now }) else { return [] }
        let due = inside.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
        inside.removeAll { $0.at <= now }
        return due.map(\.bytes)
    }
}
