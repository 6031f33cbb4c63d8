package import GantryCore

/// A first-in first-out queue between threads with room for a fixed number of values; nothing is allocated after
/// `init`.
package final class BoundedQueue<Value: Sendable>: @unchecked Sendable {  // All state is guarded by `condition`.
    private let condition = Condition()
    private var ring: [Value?]
    private var head = 0
    private var count = 0
    private var isClosed = false
    private var dropped = 0

    package init(capacity: Int) {
        ring = Array(repeating: nil, count: max(1, capacity))
    }

    /// False when the queue is full (counted as dropped) or closed. Never blocks.
    @discardableResult
    package func push(_ value: Value) -> Bool {
        condition.withLock {
            if isClosed { return false }
            if count == ring.count {
                dropped += 1
                return false
            }
            append(value)
            return true
        }
    }

    /// As `push`, but waits for room until `deadline`.
    package func push(_ value: Value, until deadline: MediaTimestamp) -> Bool {
        condition.withLock {
            while count == ring.count && !isClosed {
                if !condition.wait(until: deadline) {
                    dropped += 1
                    return false
                }
            }
            if isClosed { return false }
            append(value)
            return true
        }
    }

    /// Makes room by letting the oldest value go when the queue is full. False when closed.
    @discardableResult
    package func pushDroppingOldest(_ value: Value) -> Bool {
        condition.withLock {
            if isClosed { return false }
            if count == ring.count {
                _ = removeFirst()
                dropped += 1
            }
            append(value)
            return true
        }
    }

    /// Waits for the oldest value. Nil when the queue is closed and empty, or `deadline` has passed.
    package func pop(until deadline: MediaTimestamp? = nil) -> Value? {
        condition.withLock {
            while count == 0 && !isClosed {
                guard let deadline else {
                    condition.wait()
                    continue
                }
                if !condition.wait(until: deadline) { return nil }
            }
            return count == 0 ? nil : removeFirst()
        }
    }

    /// No more values come in; those inside can still be taken.
    package func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    /// Lets go of all that waits.
    package func removeAll() {
        condition.withLock {
            while count > 0 { _ = removeFirst() }
            condition.broadcast()
        }
    }

    package var countInside: Int { condition.withLock { count } }
    package var droppedCount: Int { condition.withLock { dropped } }
    package var closed: Bool { condition.withLock { isClosed } }

    private func append(_ value: Value) {
        ring[(head + count) % ring.count] = value
        count += 1
        condition.broadcast()
    }

    private func removeFirst() -> Value? {
        let value = ring[head]
        ring[head] = nil
        head = (head + 1) % ring.count
        count -= 1
        condition.broadcast()
        return value
    }
}
