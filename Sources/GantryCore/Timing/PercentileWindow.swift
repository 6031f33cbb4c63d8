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
    private var next = 0
    private var filled = 0
    /// Room for sorting, made when the percentiles are asked for the first time.
    private var sorted: [Int32] = []
    private var spare: [Int32] = []

    /// `capacity` is at least 1.
    package init(capacity: Int = 512) { ring = Array(repeating: 0, count: max(1, capacity)) }

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

    /// Takes over what `other` holds (as much as fits, when that has more room). Allocates nothing: for a reader that
    /// must not hold up the writer while it sorts.
    package mutating func copy(_ other: PercentileWindow) {
        filled = min(other.filled, ring.count)
        next = filled == ring.count ? 0 : filled
        for index in 0..<filled { ring[index] = other.ring[index] }
    }

    /// Nearest rank: the smallest value that at least p percent do not exceed. Allocates the first time only.
    package mutating func percentiles() -> Percentiles {
        guard filled > 0 else { return Percentiles() }
        sort()
        func rank(_ percent: Int) -> Int32 { sorted[(filled * percent + 99) / 100 - 1] }
        return Percentiles(count: filled, p50: rank(50), p95: rank(95), p99: rank(99), maximum: sorted[filled - 1])
    }

    /// Sorts by one byte after the other, the lowest first (radix sort): four passes whatever the values, where the
    /// standard library's `sort` takes memory each time.
    private mutating func sort() {
        if sorted.isEmpty {
            sorted = Array(repeating: 0, count: ring.count)
            spare = sorted
        }
        for index in 0..<filled { sorted[index] = ring[index] }
        for shift in stride(from: 0, to: 32, by: 8) {
            var starts = InlineArray<257, Int>(repeating: 0)
            for index in 0..<filled { starts[Self.digit(sorted[index], shift) + 1] += 1 }
            for value in 1..<256 { starts[value] += starts[value - 1] }
            for index in 0..<filled {
                let value = sorted[index]
                let digit = Self.digit(value, shift)
                spare[starts[digit]] = value
                starts[digit] += 1
            }
            swap(&sorted, &spare)
        }
    }

    /// The sign bit is turned around, so that negative values come first.
    private static func digit(_ value: Int32, _ shift: Int) -> Int {
        Int(truncatingIfNeeded: (UInt32(bitPattern: value) ^ 0x8000_0000) >> UInt32(truncatingIfNeeded: shift) & 255)
    }
}
