import GantryCore
import GantryPlatform

/// Whether the thread of an output has ended.
final class OutputEnd: @unchecked Sendable {  // Everything is guarded by `condition`.
    private let condition = Condition()
    private var isReached = false
    private var isGivenUp = false

    func reach() {
        condition.withLock {
            isReached = true
            condition.broadcast()
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
