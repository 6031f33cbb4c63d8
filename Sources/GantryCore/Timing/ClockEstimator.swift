/// Estimates the peer's clock from PING/PONG stamps.
///
/// Of the last 16 exchanges the one with the smallest round trip counts (its stamps waited least in queues); its offset is
/// `((t2 − t1) + (t3 − t4)) / 2` as in RFC 5905 section 8. The drift is the least-squares slope of those offsets over the
/// last 60 s. Owned by one thread; nothing is allocated after `init`. It has 2 KB: not copyable, so that
/// looking at it for every picture is in place.
package struct ClockEstimator: ~Copyable, Sendable {
    private struct Exchange {
        var time: Int64 = 0
        var offset: Int64 = 0
        var roundTrip: Int64 = .max
    }

    private static let window: Int64 = 60_000_000
    /// Longer round trips and stamps beyond ± a century are not believed.
    private static let longestRoundTrip: Int64 = 10_000_000
    private static let largestStamp: Int64 = 1 << 52

    private var recent = InlineArray<16, Exchange>(repeating: Exchange())
    private var recentCount = 0
    private var points = InlineArray<64, Exchange>(repeating: Exchange())
    private var pointCount = 0
    private var best = Exchange()
    /// Microseconds of offset per microsecond of local time.
    private var slope = 0.0

    package init() {}

    /// The smallest round trip of the last 16; nil before the first exchange.
    package var roundTrip: MediaDuration? { recentCount > 0 ? MediaDuration(microseconds: best.roundTrip) : nil }

    /// How much faster the peer's clock runs, in parts per million.
    package var driftPartsPerMillion: Double { slope * 1_000_000 }

    /// One exchange: the PING left at `sent` and its PONG came at `returned` (our clock), the peer got it at `received` and
    /// answered at `answered` (its clock). Impossible stamps are ignored.
    package mutating func add(
        sent: MediaTimestamp, received: MediaTimestamp, answered: MediaTimestamp, returned: MediaTimestamp
    ) {
        let stamps: InlineArray<4, Int64> = [
            sent.microseconds, received.microseconds, answered.microseconds, returned.microseconds,
        ]
        for index in stamps.indices where stamps[index].magnitude >= Self.largestStamp.magnitude { return }
        let roundTrip = (stamps[3] - stamps[0]) - (stamps[2] - stamps[1])
        guard 0...Self.longestRoundTrip ~= roundTrip, stamps[2] >= stamps[1] else { return }
        let offset = ((stamps[1] - stamps[0]) + (stamps[2] - stamps[3])) / 2
        recent[recentCount % recent.count] = Exchange(time: stamps[3], offset: offset, roundTrip: roundTrip)
        recentCount += 1
        var smallest = recent[0]
        for index in 0..<min(recentCount, recent.count) where recent[index].roundTrip < smallest.roundTrip {
            smallest = recent[index]
        }
        best = smallest
        points[pointCount % points.count] = smallest
        pointCount += 1
        updateSlope(now: stamps[3])
    }

    /// Peer's clock minus ours at a time of ours; nil before the first exchange.
    package func offset(at time: MediaTimestamp) -> MediaDuration? {
        guard recentCount > 0 else { return nil }
        let age = max(-Self.window, min(Self.window, time.microseconds &- best.time))
        return MediaDuration(microseconds: best.offset &+ Int64(slope * Double(age)))
    }

    /// A stamp of the peer on our clock; nil before the first exchange.
    package func local(_ peer: MediaTimestamp) -> MediaTimestamp? {
        guard recentCount > 0 else { return nil }
        let estimate = MediaTimestamp(microseconds: peer.microseconds &- best.offset)
        guard let offset = offset(at: estimate) else { return nil }
        return peer - offset
    }

    private mutating func updateSlope(now: Int64) {
        var count = 0.0
        var times = 0.0
        var offsets = 0.0
        var earliest = Int64.max
        var latest = Int64.min
        for index in 0..<min(pointCount, points.count) where now - points[index].time <= Self.window {
            count += 1
            times += Double(points[index].time - now)
            offsets += Double(points[index].offset - best.offset)
            earliest = min(earliest, points[index].time)
            latest = max(latest, points[index].time)
        }
        // Less than 10 s says more about the network than about the clocks.
        guard count >= 3, latest - earliest >= 10_000_000 else {
            slope = 0
            return
        }
        var numerator = 0.0
        var denominator = 0.0
        for index in 0..<min(pointCount, points.count) where now - points[index].time <= Self.window {
            let time = Double(points[index].time - now) - times / count
            numerator += time * (Double(points[index].offset - best.offset) - offsets / count)
            denominator += time * time
        }
        let measured = denominator > 0 ? numerator / denominator : 0
        // Quartz is within 100 ppm; more is a stepped clock.
        slope = measured.magnitude <= 0.001 ? measured : 0
    }
}
