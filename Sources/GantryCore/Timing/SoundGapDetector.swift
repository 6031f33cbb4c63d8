/// Finds where a player that holds 60 ms of sound would have fallen silent, from when packets came.
///
/// A packet is late by how much longer it took than usual (`ArrivalWindow`). From 60 ms on, what was held is used up: a
/// gap begins, which ends with the first packet that is in time again. A packet that is missing is a gap by itself, and so
/// is the time between two connections. Owned by one thread; allocates nothing.
package struct SoundGapDetector: Sendable {
    package struct Gap: Hashable, Sendable {
        /// When the first late packet came, the one behind what is missing, or the last one of a connection.
        package var time: MediaTimestamp
        /// How long nothing was left to play; 0 when packets are only missing.
        package var silence: MediaDuration
        package var packetsLate: Int
        package var packetsLost: Int
    }

    /// What a player holds (docs/sound.md: 40 to 60 ms).
    package static let held = MediaDuration.milliseconds(60)
    /// A step of more than this is a new beginning of the sequence, not a loss.
    private static let longestStep: UInt32 = 1 << 16

    private var arrivals = ArrivalWindow()
    private var next: UInt32?
    private var gap: Gap?
    private var lastArrival: MediaTimestamp?

    package init() {}

    /// The connection is another one: what comes has other sequence numbers, and takes another way.
    package mutating func restart() {
        let last = lastArrival
        self = SoundGapDetector()
        lastArrival = last
    }

    /// - Parameter arrived: on this machine's clock.
    /// - Returns: a gap that has ended with this packet.
    package mutating func add(_ header: MediaHeader, arrived: MediaTimestamp) -> Gap? {
        defer { lastArrival = arrived }
        if next == nil, let lastArrival, arrived - lastArrival > Self.held {
            next = header.sequence &+ 1
            arrivals.add(stamp: header.presentationTime, received: arrived)
            return Gap(
                time: lastArrival, silence: (arrived - lastArrival) - Self.held, packetsLate: 0, packetsLost: 0)
        }
        let step = next.map { header.sequence &- $0 } ?? 0
        let lost = step < Self.longestStep ? Int(step) : 0
        next = header.sequence &+ 1
        let base = arrivals.base(at: arrived)
        let late = base.map { (arrived - header.presentationTime) - $0 } ?? .zero
        arrivals.add(stamp: header.presentationTime, received: arrived)
        guard late > Self.held else {
            defer { gap = nil }
            guard lost > 0 else { return gap }
            return Gap(
                time: gap?.time ?? arrived, silence: gap?.silence ?? .zero, packetsLate: gap?.packetsLate ?? 0,
                packetsLost: (gap?.packetsLost ?? 0) + lost)
        }
        var new = gap ?? Gap(time: arrived, silence: .zero, packetsLate: 0, packetsLost: 0)
        new.silence = max(new.silence, late - Self.held)
        new.packetsLate += 1
        new.packetsLost += lost
        gap = new
        return nil
    }

    /// The gap that goes on at the end.
    package mutating func finish() -> Gap? {
        defer { gap = nil }
        return gap
    }
}
