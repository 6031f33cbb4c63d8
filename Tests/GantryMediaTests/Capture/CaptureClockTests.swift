import GantryCore
import GantryTestSupport
import Testing

@testable import GantryMedia

/// A microphone in a virtual time: its blocks of 10 ms, and readings of its clock that are off.
private struct Card {
    var clock = CaptureClock()
    var random = SeededRandom(seed: 7)
    /// When the next sample is really recorded, in microseconds.
    var truth = 5_000_000.0
    /// Of a block.
    var length = 10_000.0

    /// What was stamped less what was true, in microseconds.
    mutating func block(off range: ClosedRange<Double> = 0...0) -> Double {
        let off = range.lowerBound == range.upperBound ? range.lowerBound : .random(in: range, using: &random)
        let reading = MediaTimestamp(microseconds: Int64(truth + off))
        let stamp = clock.stamp(reading: reading, count: 480)
        let error = Double(stamp.microseconds) - truth
        truth += length
        return error
    }
}

@Suite struct CaptureClockTests {
    @Test func theFirstReadingIsTaken() {
        var clock = CaptureClock()
        let stamp = clock.stamp(reading: MediaTimestamp(microseconds: 123_456_789), count: 480)
        #expect(stamp.microseconds == 123_456_789)
        #expect(clock.last == stamp)
    }

    @Test func exactReadingsGiveExactStamps() {
        var card = Card()
        for _ in 0..<1000 { #expect(card.block().magnitude <= 1) }
    }

    /// The scheduler, and a driver that reports its position in steps.
    @Test func jitterOfReadingsIsNotInTheStamps() {
        var card = Card()
        var previous: Double?
        var largestStep = 0.0
        var largestError = 0.0
        for index in 0..<3000 {
            let error = card.block(off: 0...6000)
            if index > 1000 {
                largestStep = max(largestStep, previous.map { (error - $0).magnitude } ?? 0)
                // Readings are 3 ms late at the mean.
                largestError = max(largestError, (error - 3000).magnitude)
            }
            previous = error
        }
        #expect(largestStep < 60)
        #expect(largestError < 700)
    }

    @Test(arguments: [-300.0, 20, 1000]) func aClockThatDriftsIsFollowed(ppm: Double) {
        var card = Card()
        card.length *= 1 + ppm / 1_000_000
        var last = 0.0
        for _ in 0..<6000 {
            last = card.block()
            #expect(last.magnitude < 2000)
        }
        // The loop's second order leaves no lasting error.
        #expect(last.magnitude < 20)
    }

    @Test func afterARestartTheReadingIsTaken() {
        var card = Card()
        for _ in 0..<200 { _ = card.block(off: -500...500) }
        card.truth += 730_000
        card.clock.restart()
        #expect(card.block().magnitude <= 1)
        #expect(card.block().magnitude <= 300)
        #expect(card.clock.gapCount == 0)
    }

    /// The reading after an overrun may be early: what was given already is not given again.
    @Test func aRestartDoesNotOverlap() {
        var card = Card()
        for _ in 0..<100 { _ = card.block() }
        card.clock.restart()
        #expect((0...1).contains(card.block(off: -30_000...(-30_000))))
    }

    @Test func aSingleWildReadingIsNotBelieved() {
        var card = Card()
        for _ in 0..<500 { _ = card.block() }
        #expect(card.block(off: 500_000...500_000).magnitude <= 1)
        #expect(card.block().magnitude <= 1)
        #expect(card.block(off: -1_500_000...(-1_500_000)).magnitude <= 1)
        for _ in 0..<500 { #expect(card.block().magnitude <= 250) }
        #expect(card.clock.gapCount == 0)
    }

    /// All that waits in the buffer after a stall is read at once, with a position of the driver that is stale.
    @Test func aBurstOfLateReadingsIsNoGap() {
        var card = Card()
        for _ in 0..<500 { _ = card.block() }
        for _ in 0..<20 { #expect(card.block(off: 90_000...90_000).magnitude <= 1) }
        for _ in 0..<500 { #expect(card.block().magnitude <= 2) }
        #expect(card.clock.gapCount == 0)
    }

    @Test func aGapThatNobodyTellsOfIsFound() {
        var card = Card()
        for _ in 0..<500 { _ = card.block() }
        card.truth += 200_000
        var errors: [Double] = []
        for _ in 0..<40 { errors.append(card.block()) }
        // The first ones go on as before.
        #expect(errors.prefix(24).allSatisfy { ($0 + 200_000).magnitude < 10 })
        #expect(errors.dropFirst(24).allSatisfy { $0.magnitude < 10 })
        #expect(card.clock.gapCount == 1)
    }

    @Test func stampsNeverGoBack() {
        var card = Card()
        for _ in 0..<300 { _ = card.block() }
        // Suddenly all readings are early: the first ones were late.
        card.truth -= 150_000
        var previous = card.clock.last
        var last = 0.0
        for _ in 0..<4000 {
            last = card.block()
            let step = (card.clock.last - previous).microseconds
            #expect((9790...10_210).contains(step))
            previous = card.clock.last
        }
        #expect(last.magnitude < 100)
    }

    @Test func anyReadingsAndCountsAreTaken() {
        var random = SeededRandom(seed: 3)
        var clock = CaptureClock(rate: 0)
        for index in 0..<10_000 {
            let reading = MediaTimestamp(microseconds: Int64(truncatingIfNeeded: random.next()))
            _ = clock.stamp(reading: reading, count: Int(truncatingIfNeeded: random.next()) >> (index % 64))
            if index % 100 == 0 { clock.restart() }
            if index % 1000 == 0 { clock.forgetSpeed() }
        }
    }
}
