import GantryCore
import Testing

/// When datagrams are tried again.
@Suite struct ProbeDelayTests {
    private func at(_ seconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: seconds * 1_000_000) }

    @Test func aFirewallIsNotAskedOften() {
        var delay = ProbeDelay()
        for second in [1, 40, 80] as [Int64] { #expect(delay.failed(isLossy: false, now: at(second)) == .seconds(30)) }
    }

    @Test func whatHasPassedIsTriedSoon() {
        var delay = ProbeDelay()
        delay.passed(now: at(0))
        let waits = (0..<7).map { delay.failed(isLossy: false, now: at(60 + Int64($0))).microseconds / 1_000_000 }
        #expect(waits == [1, 2, 4, 8, 16, 30, 30])
        // It passes for a moment only: no flapping.
        delay.passed(now: at(100))
        #expect(delay.failed(isLossy: false, now: at(105)) == .seconds(30))
        delay.passed(now: at(200))
        #expect(delay.failed(isLossy: true, now: at(231)) == .seconds(30), "too many losses")
        #expect(delay.failed(isLossy: false, now: at(262)) == .seconds(1))
    }
}
