/// The smallest of the values of the last ten seconds, to a second. Owned by one thread; allocates nothing.
package struct WindowedMinimum: Sendable {
    private static let span: Int64 = 1_000_000
    /// The smallest value of each second; `Int64.max` where none came.
    private var minima = InlineArray<10, Int64>(repeating: .max)
    private var index = 0
    private var spanStart: MediaTimestamp?

    package init() {}

    /// Takes a value, and returns the smallest with it.
    package mutating func add(_ value: Int64, now: MediaTimestamp) -> Int64 {
        advance(to: now)
        minima[index] = min(minima[index], value)
        return smallest ?? value
    }

    /// Nil before the first value.
    package var smallest: Int64? { smallest(ofSeconds: minima.count) }

    /// Of the seconds up to the newest value, 1 to 10; nil where none came in them.
    package func smallest(ofSeconds seconds: Int) -> Int64? {
        var result = Int64.max
        for age in 0..<min(max(seconds, 1), minima.count) {
            result = min(result, minima[(index + minima.count - age) % minima.count])
        }
        return result == .max ? nil : result
    }

    /// All that came before is forgotten.
    package mutating func restart(at value: Int64) {
        for index in minima.indices { minima[index] = .max }
        minima[index] = value
    }

    private mutating func advance(to now: MediaTimestamp) {
        guard let start = spanStart else {
            spanStart = now
            return
        }
        let passed = now.microseconds.subtractingReportingOverflow(start.microseconds)
        guard !passed.overflow, passed.partialValue >= Self.span else { return }
        let spans = passed.partialValue / Self.span
        for _ in 0..<min(spans, Int64(minima.count)) {
            index = (index + 1) % minima.count
            minima[index] = .max
        }
        spanStart = start + MediaDuration(microseconds: spans * Self.span)
    }
}
