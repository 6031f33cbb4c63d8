/// The last `capacity` measurements in µs, and their percentiles on demand.
///
/// Adding costs one store and allocates nothing. Owned by one thread.
package struct PercentileWindow: Sendable {
    package struct Percentiles: Hashable, Sendable {
        /// Measurements that these numbers are made of; all are 0 when it is 0.
        package var count = 0
        package var p50: Int32 = 0
        package var p95: Int32 = 0
        package var p99: Int32 = 0
        package var maximum: Int32 = 0

        package init(count: Int = 0, p50: Int32 = 0, p95: Int32 = 0, p99: Int32 = 0, maximum: Int32 = 0) {
            self.count = count
            self.p50 = p50
            self.p95 = p95
            self.p99 = p99
            self.maximum = maximum
        }
    }

    private var ring: [Int32]
    private var sorted: [Int32]
    private var next = 0
    private var filled = 0

    /// `capacity` is at least 1.
    package init(capacity: Int = 512) {
        ring = Array(repeating: 0, count: max(1, capacity))
        sorted = []
        sorted.reserveCapacity(ring.count)
    }

    package var count: Int { filled }

    package mutating func add(_ microseconds: Int32) {
        ring[next] = microseconds
        next = next + 1 == ring.count ? 0 : next + 1
        filled = min(filled + 1, ring.count)
    }

    /// Clamped to what 32 bits hold: ± 35 minutes.
    package mutating func add(_ duration: MediaDuration) { add(Int32(clamping: duration.microseconds)) }

    package mutating func removeAll() {
        next = 0
        filled = 0
    }

    /// Nearest rank: the smallest value that at least p percent do not exceed.
    package mutating func percentiles() -> Percentiles {
        guard filled > 0 else { return Percentiles() }
        sorted.removeAll(keepingCapacity: true)
        sorted.append(contentsOf: ring[..<filled])
        sorted.sort()
        func rank(_ percent: Int) -> Int32 { sorted[(filled * percent + 99) / 100 - 1] }
        return Percentiles(count: filled, p50: rank(50), p95: rank(95), p99: rank(99), maximum: sorted[filled - 1])
    }
}
