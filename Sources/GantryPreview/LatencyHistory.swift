import GantryCore

/// How long the last pictures have taken, for the plot and its percentiles. Owned by one thread; nothing is allocated after
/// `init`, except for sorting the first time.
struct LatencyHistory {
    /// Of one picture, in microseconds.
    struct Entry: Equatable {
        /// Until it had been decoded: from its capture, or from its arrival where nobody says when that was.
        var decoded: Int32
        /// Until it was in the window.
        var shown: Int32
    }

    /// Ten seconds at 30 pictures a second.
    static let capacity = 300

    private var ring = [Entry](repeating: Entry(decoded: 0, shown: 0), count: LatencyHistory.capacity)
    private var next = 0
    private(set) var count = 0
    private var window = PercentileWindow(capacity: LatencyHistory.capacity)
    private var inWindow = PercentileWindow(capacity: LatencyHistory.capacity)

    mutating func add(decoded: MediaDuration, shown: MediaDuration) {
        let entry = Entry(
            decoded: Int32(clamping: max(0, decoded.microseconds)), shown: Int32(clamping: max(0, shown.microseconds)))
        ring[next] = entry
        next = next + 1 == ring.count ? 0 : next + 1
        count = min(count + 1, ring.count)
        window.add(entry.shown)
        inWindow.add(entry.shown - min(entry.decoded, entry.shown))
    }

    mutating func removeAll() {
        (next, count) = (0, 0)
        window.removeAll()
        inWindow.removeAll()
    }

    /// The newest is 0; nil for what is not there.
    subscript(age: Int) -> Entry? {
        guard 0..<count ~= age else { return nil }
        return ring[(next + ring.count - 1 - age) % ring.count]
    }

    /// Until the picture was in the window.
    mutating func percentiles() -> PercentileWindow.Percentiles { window.percentiles() }
    /// From decoded until it was in the window.
    mutating func windowPercentiles() -> PercentileWindow.Percentiles { inWindow.percentiles() }

    private static let scales: [Int32] = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]

    /// What the plot's height stands for, in milliseconds, so that all fits.
    static func scale(for largest: Int32) -> Int32 {
        scales.first { $0 * 1000 >= largest } ?? scales[scales.count - 1]
    }
}
