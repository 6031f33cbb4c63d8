/// Percentiles of the last whole second, whoever reads them and how often. A plain value; nothing is allocated after the
/// first reading. Keeps the newest `capacity` of a second.
package struct SecondWindow: Sendable {
    private var current: PercentileWindow
    private var last: PercentileWindow
    private var second = Int64.min

    /// - Parameter capacity: pictures a second, at least.
    package init(capacity: Int = 256) {
        current = PercentileWindow(capacity: capacity)
        last = PercentileWindow(capacity: capacity)
    }

    package mutating func add(_ duration: MediaDuration, at now: MediaTimestamp) {
        turn(to: now)
        current.add(duration)
    }

    /// Of the second before that of `now`.
    package mutating func percentiles(at now: MediaTimestamp) -> PercentileWindow.Percentiles {
        turn(to: now)
        return last.percentiles()
    }

    private mutating func turn(to now: MediaTimestamp) {
        let new = now.microseconds / 1_000_000
        guard new != second else { return }
        swap(&current, &last)
        if new &- 1 != second { last.removeAll() }
        current.removeAll()
        second = new
    }
}
