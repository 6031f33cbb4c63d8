import GantryCore
import GantryPlatform
import Testing

@Suite struct ConditionTests {
    /// State that only `condition` protects.
    private final class Guarded: @unchecked Sendable {  // `value` is guarded by `condition`.
        let condition = Condition()
        var value = 0
    }

    @Test(arguments: [Int64.min, -1, 0, 1]) func aDeadlineThatHasPassedEndsAtOnce(microseconds: Int64) {
        let condition = Condition()
        let signalled = condition.withLock { condition.wait(until: MediaTimestamp(microseconds: microseconds)) }
        #expect(!signalled)
    }

    @Test func waitsUntilTheDeadlineAndNotBefore() {
        let condition = Condition()
        let deadline = MonotonicClock.now() + .milliseconds(30)
        // A wake-up without cause is allowed; the deadline ends the loop.
        condition.withLock { while condition.wait(until: deadline) {} }
        #expect(MonotonicClock.now() >= deadline)
    }

    @Test func wakesEveryoneAndLosesNoUpdate() throws {
        let guarded = Guarded()
        let threads = try (0..<4).map { index in
            try NamedThread("counter \(index)") {
                for _ in 0..<5000 {
                    guarded.condition.withLock { guarded.value += 1 }
                }
                guarded.condition.withLock { guarded.condition.broadcast() }
            }
        }
        let deadline = MonotonicClock.now() + .seconds(5)
        guarded.condition.withLock {
            while guarded.value < 20_000, guarded.condition.wait(until: deadline) {}
            #expect(guarded.value == 20_000)
        }
        for thread in threads { thread.join() }
    }

    @Test func passesErrorsOnAndUnlocks() {
        let condition = Condition()
        #expect(throws: GantryError.self) {
            try condition.withLock { () throws(GantryError) in throw GantryError(.general, "out") }
        }
        #expect(condition.withLock { true }, "the lock is free again")
    }
}
