import GantryCore

/// Measures how many pictures a second come, over the last four seconds. Pure; allocates in `init` only.
struct CameraRate {
    private var stamps: [MediaTimestamp]
    private var count = 0
    private var next = 0

    private static let span = MediaDuration.seconds(4)
    /// Enough for 60 a second; of faster ones a shorter time is measured.
    private static let capacity = 256

    init() { stamps = [MediaTimestamp](repeating: MediaTimestamp(microseconds: 0), count: Self.capacity) }

    mutating func add(_ stamp: MediaTimestamp) {
        // A clock that jumps begins anew.
        if count > 0, stamp <= newest { count = 0 }
        stamps[next] = stamp
        next = next + 1 == Self.capacity ? 0 : next + 1
        count = min(count + 1, Self.capacity)
    }

    private var newest: MediaTimestamp { stamps[next == 0 ? Self.capacity - 1 : next - 1] }

    /// Nil with less than two pictures, or less than half a second of them.
    var perSecond: Double? {
        guard count >= 2 else { return nil }
        let newest = newest
        var (index, steps) = (next == 0 ? Self.capacity - 1 : next - 1, 0)
        var oldest = newest
        while steps < count - 1 {
            let earlier = index == 0 ? Self.capacity - 1 : index - 1
            guard newest - stamps[earlier] <= Self.span else { break }
            (index, oldest) = (earlier, stamps[earlier])
            steps += 1
        }
        let time = (newest - oldest).microseconds
        guard steps > 0, time >= 500_000 else { return nil }
        return Double(steps) * 1_000_000 / Double(time)
    }
}

/// Decides when a rate that is not what was agreed on is worth a word. Pure.
struct CameraRateWatch {
    enum Notice: Equatable {
        case slow(Double)
        case recovered(Double)
    }

    private let nominal: Double
    private var told: Double?
    private var next: MediaTimestamp?

    /// Exposure and focus settle first.
    private static let settling = MediaDuration.seconds(5)
    private static let pause = MediaDuration.seconds(10)

    init(nominal: FrameRate) { self.nominal = nominal.framesPerSecond }

    mutating func note(_ rate: Double, now: MediaTimestamp) -> Notice? {
        guard let next else {
            self.next = now + Self.settling
            return nil
        }
        guard now >= next else { return nil }
        if rate < 0.9 * nominal {
            // Again only when it is another one.
            if let told, abs(rate - told) < 0.2 * told { return nil }
            told = rate
            self.next = now + Self.pause
            return .slow(rate)
        }
        guard told != nil, rate >= 0.95 * nominal else { return nil }
        told = nil
        self.next = now + Self.pause
        return .recovered(rate)
    }
}
