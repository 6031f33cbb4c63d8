import Foundation
package import GantryCore
import GantryPlatform

/// How long a test waits for what must come. Long: a loaded machine is slow, and nothing waits for it in a good run.
package let patience = MediaDuration.seconds(60)

/// Looks again and again whether something has come that tells nobody. Blocks; false when it has not come in time.
package func waitUntil(_ limit: MediaDuration = patience, _ hasCome: () -> Bool) -> Bool {
    let deadline = MonotonicClock.now() + limit
    while !hasCome() {
        guard MonotonicClock.now() < deadline else { return hasCome() }
        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10))
    }
    return true
}

/// Runs what blocks on a thread of its own: the cooperative pool has one thread for each processor only.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A value that several threads change and tests wait for.
package final class Watched<Value: Sendable>: @unchecked Sendable {  // `stored` is guarded by `condition`.
    private let condition = Condition()
    private var stored: Value

    package init(_ value: Value) { stored = value }

    package var value: Value { condition.withLock { stored } }

    package func change(_ body: (inout Value) -> Void) {
        condition.withLock {
            body(&stored)
            condition.broadcast()
        }
    }

    /// Blocks until the value is as asked for. False when that did not come in time.
    @discardableResult
    package func waitBlocking(_ limit: MediaDuration = patience, until matches: (Value) -> Bool) -> Bool {
        let deadline = MonotonicClock.now() + limit
        return condition.withLock {
            while !matches(stored) {
                if !condition.wait(until: deadline) { return matches(stored) }
            }
            return true
        }
    }

    /// As `waitBlocking`, without holding a thread of the pool.
    package func wait(
        _ limit: MediaDuration = patience, until matches: @escaping @Sendable (Value) -> Bool
    ) async throws -> Bool {
        try await onThread { self.waitBlocking(limit, until: matches) }
    }
}
