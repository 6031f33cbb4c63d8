package import GantryCore

/// Room for one value between two threads; a newer one replaces an older one that was not taken yet.
///
/// For video: the newest frame wins, what it displaced is counted. Putting never blocks. Values are let go outside the lock:
/// what happens at a value's end may come back here.
package final class LatestSlot<Value: Sendable>: @unchecked Sendable {  // All state is guarded by `condition`.
    private let condition = Condition()
    private var value: Value?
    private var isClosed = false
    private var dropped = 0

    package init() {}

    /// False when the slot is closed: the value was not taken in.
    @discardableResult
    package func put(_ newValue: Value) -> Bool {
        let (isTaken, _) = condition.withLock { () -> (Bool, displaced: Value?) in
            if isClosed { return (false, nil) }
            let displaced = value
            if displaced != nil { dropped += 1 }
            value = newValue
            condition.broadcast()
            return (true, displaced)
        }
        return isTaken
    }

    /// Waits for a value and takes it. Nil once closed, or when `deadline` has passed.
    package func take(until deadline: MediaTimestamp? = nil) -> Value? {
        condition.withLock {
            while value == nil && !isClosed {
                guard let deadline else {
                    condition.wait()
                    continue
                }
                if !condition.wait(until: deadline) { break }
            }
            defer {
                value = nil
                condition.broadcast()
            }
            return value
        }
    }

    /// Waits until the slot is empty: for sources that can wait (a file), so that nothing is dropped. False when
    /// `deadline` passed or the slot was closed.
    package func waitUntilTaken(until deadline: MediaTimestamp) -> Bool {
        condition.withLock {
            while value != nil && !isClosed {
                if !condition.wait(until: deadline) { return false }
            }
            return !isClosed
        }
    }

    /// Values that were replaced before anyone took them.
    package var droppedCount: Int { condition.withLock { dropped } }

    /// Wakes everyone; a value that waits is let go.
    package func close() {
        _ = condition.withLock { () -> Value? in
            isClosed = true
            defer { value = nil }
            condition.broadcast()
            return value
        }
    }

    package var closed: Bool { condition.withLock { isClosed } }
}
