import GantryCore
import GantryPlatform

/// What the threads of `receive` tell each other.
final class ReceiveState: @unchecked Sendable {  // Everything is guarded by `condition`.
    private let condition = Condition()
    private var isStopped = false
    private var hasEnded = false
    private var output: GantryError?
    private var session: GantryError?

    /// Ctrl-C.
    func stop() { change { isStopped = true } }

    func ended(_ error: GantryError?) {
        change {
            hasEnded = true
            session = error
        }
    }

    /// The first failure counts; it ends the session, so that the other outputs are finished in order.
    func outputFailed(_ error: GantryError) { change { if output == nil { output = error } } }

    private func change(_ body: () -> Void) {
        condition.withLock {
            body()
            condition.broadcast()
        }
    }

    /// True when it is time to end; false at `deadline`.
    func waitForChange(until deadline: MediaTimestamp) -> Bool {
        condition.withLock {
            while !isStopped && !hasEnded && output == nil {
                if !condition.wait(until: deadline) { return false }
            }
            return true
        }
    }

    /// True once the session has told its end.
    func waitUntilEnded(until deadline: MediaTimestamp) -> Bool {
        condition.withLock {
            while !hasEnded {
                if !condition.wait(until: deadline) { return false }
            }
            return true
        }
    }

    var outputFailure: GantryError? { condition.withLock { output } }
    var sessionFailure: GantryError? { condition.withLock { session } }
}
