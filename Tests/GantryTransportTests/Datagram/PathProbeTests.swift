import GantryCore
import Testing

@Suite struct PathProbeTests {
    private func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }

    private func sizes(_ probe: inout PathProbe, _ milliseconds: Int64) -> [Int] {
        var sizes: [Int] = []
        while let next = probe.due(now: at(milliseconds)) { sizes.append(next.size) }
        return sizes
    }

    @Test func theLargestAnswerEndsItAtOnce() {
        var probe = PathProbe(sizes: [1472, 1232], now: at(0))
        #expect(sizes(&probe, 0) == [1472, 1232])
        #expect(sizes(&probe, 10).isEmpty)
        #expect(sizes(&probe, 20) == [1472, 1232])
        probe.answered(number: 1, size: 1472, now: at(21))
        #expect(probe.result(now: at(21)) == .open(payload: 1472))
        #expect(sizes(&probe, 40).isEmpty)
    }

    @Test func aSmallerAnswerWaitsForLargerOnes() {
        var probe = PathProbe(sizes: [1472, 1232], now: at(0))
        #expect(sizes(&probe, 0).count == 2)
        probe.answered(number: 2, size: 1232, now: at(5))
        #expect(probe.result(now: at(5)) == .running)
        #expect(sizes(&probe, 20) == [1472])
        #expect(probe.result(now: at(65)) == .open(payload: 1232))
    }

    @Test func withoutAnAnswerItEnds() {
        var probe = PathProbe(sizes: [1472, 1232], now: at(0))
        for time in stride(from: 0, to: 700, by: 20) as StrideTo<Int64> { #expect(!sizes(&probe, time).isEmpty) }
        #expect(probe.result(now: at(699)) == .running)
        #expect(probe.result(now: at(700)) == .blocked)
        #expect(sizes(&probe, 720).isEmpty)
    }

    @Test func answersToNothingAreNone() {
        var probe = PathProbe(sizes: [1472, 1232], now: at(0))
        probe.answered(number: 1, size: 1472, now: at(1))
        #expect(probe.result(now: at(1)) == .running)
        _ = sizes(&probe, 0)
        probe.answered(number: 0, size: 1472, now: at(1))
        probe.answered(number: 3, size: 1472, now: at(1))
        probe.answered(number: 1, size: 9000, now: at(1))
        #expect(probe.result(now: at(1)) == .running)
    }

    @Test func parityFollowsLoss() {
        #expect(ParityPlan.parity(data: 20, loss: 0) == 0)
        #expect(ParityPlan.parity(data: 1, loss: 0.001) == 1)
        #expect(ParityPlan.parity(data: 20, loss: 0.01) == 2)
        #expect(3...5 ~= ParityPlan.parity(data: 20, loss: 0.05))
        #expect(ParityPlan.parity(data: 48, loss: 1) == 32)
        let plan = ParityPlan(data: 100, loss: 0.01)
        #expect(plan.blocks == 3)
        #expect((0..<3).map(plan.blockData) == [34, 33, 33])
        #expect(plan.total == 100 + (0..<3).reduce(0) { $0 + plan.blockParity($1) })
    }

    @Test func lossIsForgottenSlowly() {
        var loss = LossEstimate()
        for report in 0..<200 as Range<Int64> {
            loss.reported(expected: 33, missing: report % 3 == 0 ? 1 : 0, now: at(report * 50))
        }
        #expect(0.006...0.016 ~= loss.value(now: at(10_000)))
        for report in 200..<400 as Range<Int64> { loss.reported(expected: 33, missing: 0, now: at(report * 50)) }
        #expect(0.004...0.006 ~= loss.value(now: at(20_000)))
        #expect(loss.value(now: at(40_000)) == 0)
        // Nonsense of a peer.
        loss.reported(expected: -5, missing: 7, now: at(40_001))
        loss.reported(expected: .max, missing: .max, now: at(40_001))
        #expect(loss.value(now: at(40_002)) == 0)
    }

    @Test func lossWithoutAQueueIsTold() {
        func watch(_ sample: (Int64) -> (UInt32, Int64)) -> Int64? {
            var losses = RandomLossWatch()
            for step in 0..<200 as Range<Int64> {
                let (count, roundTrip) = sample(step)
                let now = at(1_000_000 + step * 100)
                if losses.add(.init(retransmissions: count, roundTrip: .milliseconds(roundTrip)), now: now) {
                    return step
                }
            }
            return nil
        }
        #expect(watch { _ in (7, 20) } == nil)
        #expect(watch { (UInt32($0 / 2), 20 + $0 % 3) }.map { $0 <= 8 } == true)
        // A queue of 200 ms that overflows, and its first loss before the round trip shows it.
        #expect(watch { $0 < 10 ? (0, 20) : (UInt32($0), 220) } == nil)
        #expect(watch { $0 < 10 ? (0, 20) : (UInt32($0) * 2, $0 < 13 ? 30 : 200) } == nil)
        // A queue that comes and goes.
        #expect(watch { (UInt32($0), $0 % 15 == 2 ? 100 : 22) } == nil)
        // One now and then.
        #expect(watch { (UInt32($0 / 60), 20) } == nil)
    }

    @Test func packetsOfALargeUnitAreSpread() {
        var pacer = Pacer()
        var now = at(0)
        var burst = 0
        while pacer.takes(1400, now: now) { burst += 1400 }
        #expect(20_000...26_000 ~= burst)
        var taken = 0
        while now < at(100) {
            now = pacer.nextTime ?? at(100)
            while pacer.takes(1400, now: now) { taken += 1400 }
        }
        #expect(1_000_000...1_400_000 ~= taken)
    }
}
