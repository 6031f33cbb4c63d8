import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct NamedThreadJoinTests {
    /// Whoever waits comes back only when the thread has ended, not only the first.
    @Test func everyoneWhoJoinsWaitsForTheEnd() async throws {
        let mayEnd = Watched(false)
        let hasEnded = Watched(false)
        let thread = try NamedThread("test-join") {
            mayEnd.waitBlocking { $0 }
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
            hasEnded.change { $0 = true }
        }
        let seen = Watched<[Bool]>([])
        let waiting = Watched(0)
        for _ in 0..<3 {
            Thread.detachNewThread {
                waiting.change { $0 += 1 }
                thread.join()
                seen.change { $0.append(hasEnded.value) }
            }
        }
        #expect(try await waiting.wait { $0 == 3 })
        mayEnd.change { $0 = true }
        #expect(try await seen.wait { $0.count == 3 })
        #expect(seen.value == [true, true, true])
        try await onThread { thread.join() }
    }
}
