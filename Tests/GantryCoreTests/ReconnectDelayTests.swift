import GantryCore
import GantryTestSupport
import Testing

@Suite struct AdmissionDelayTests {
    @Test func itIsSpreadWidelyAndEnds() {
        var (early, late) = (AdmissionDelay(), AdmissionDelay())
        let first = (0..<10).map { _ in early.next(random: 0)?.microseconds }
        #expect(first == Array(repeating: 100_000, count: 8) + [nil, nil])
        let last = (0..<8).map { _ in late.next(random: 1)?.microseconds }
        #expect(last == [500_000, 900_000, 1_700_000, 2_100_000, 2_100_000, 2_100_000, 2_100_000, 2_100_000])
        var hostile = AdmissionDelay()
        #expect(hostile.next(random: -9) == .milliseconds(100) && hostile.next(random: 7) == .milliseconds(900))
    }
}

@Suite struct ReconnectDelayTests {
    @Test func theDelayGrowsToAQuarterOfAMinute() {
        var delay = ReconnectDelay()
        let delays = (0..<8).map { _ in delay.next(random: 0.5).microseconds }
        #expect(delays == [500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 15_000_000, 15_000_000, 15_000_000])
    }

    @Test func eachIsSpreadByAThird() {
        var (early, late) = (ReconnectDelay(), ReconnectDelay())
        #expect(early.next(random: 0) == .milliseconds(350))
        #expect(late.next(random: 1) == .milliseconds(650))
        var hostile = ReconnectDelay()
        #expect(hostile.next(random: -9) == .milliseconds(350))
    }

    @Test func aSessionThatStoodBeginsAnew() {
        var delay = ReconnectDelay()
        for _ in 0..<5 { _ = delay.next() }
        delay.succeeded()
        #expect(delay.next(random: 0.5) == .milliseconds(500))
    }

    @Test(arguments: [
        GantryError.Code.notPaired, .unpairedByPeer, .versionMismatch, .wrongPeer, .rejected, .protocolError,
        .invalidArgument, .unknownDevice, .tls,
    ])
    func aNoIsANo(_ code: GantryError.Code) {
        #expect(!ReconnectDelay.isWorthwhile(after: GantryError(code, "no")))
    }

    @Test(arguments: [GantryError.Code.peerLost, .cannotConnect, .timeout]) func whatMayPassIsTriedAgain(
        _ code: GantryError.Code
    ) {
        #expect(ReconnectDelay.isWorthwhile(after: GantryError(code, "away")))
        #expect(ReconnectDelay.isWorthwhile(after: nil))
    }
}
