import GantryCore
import GantryPlatform

/// Whether the thread of an output has ended.
final class OutputEnd: @unchecked Sendable {  // Everything is guarded by `condition`.
    private let condition = Condition()
    private var isReached = false
    private var isGivenUp = false
    private var beginning: (time: MediaTimestamp, waiting: Int)?

    func reach() {
        condition.withLock {
            isReached = true
            condition.broadcast()
        }
    }

    /// Nothing more will come.
    ///
    /// - Parameter waiting: what the thread still has to take.
    /// - Returns: when it began, and what waited then: the first time counts.
    @discardableResult
    func begin(waiting: Int = 0) -> (time: MediaTimestamp, waiting: Int) {
        condition.withLock {
            let first = beginning ?? (MonotonicClock.now(), waiting)
            beginning = first
            return first
        }
    }

    /// True the first time.
    func giveUp() -> Bool {
        condition.withLock {
            defer { isGivenUp = true }
            return !isGivenUp
        }
    }

    /// True when the thread has ended; false at `deadline`, and at once when it was given up.
    func wait(until deadline: MediaTimestamp) -> Bool {
        condition.withLock {
            while !isReached {
                if isGivenUp || !condition.wait(until: deadline) { return false }
            }
            return true
        }
    }
}
