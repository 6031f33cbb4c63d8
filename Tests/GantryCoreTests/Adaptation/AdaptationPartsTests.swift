import Testing

@testable import GantryCore

@Suite struct QueueDelayTests {
    private func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }

    @Test(arguments: [0, 3_600_000_000, -3_600_000_000] as [Int64]) func clocksNeedNotAgree(_ offset: Int64) {
        var delay = QueueDelay()
        #expect(delay.add(.microseconds(offset + 20_000), now: at(0)) == .zero)
        #expect(delay.add(.microseconds(offset + 50_000), now: at(50)) == .milliseconds(30))
        #expect(delay.add(.microseconds(offset + 15_000), now: at(100)) == .zero)
    }

    @Test func theSmallestIsForgottenAfterTenSeconds() {
        var delay = QueueDelay()
        _ = delay.add(.milliseconds(10), now: at(0))
        for second in 1...9 {
            #expect(delay.add(.milliseconds(40), now: at(Int64(second) * 1000)) == .milliseconds(30))
        }
        #expect(delay.add(.milliseconds(40), now: at(10_000)) == .zero)
        // A long silence forgets all.
        #expect(delay.add(.milliseconds(90), now: at(10_000_000)) == .zero)
    }

    @Test func driftIsNoQueue() {
        var delay = QueueDelay()
        var largest = MediaDuration.zero
        for index in 0..<72_000 {
            let drifted = Int64(index) * 50_000 / 10_000
            largest = max(largest, delay.add(.microseconds(drifted), now: at(Int64(index) * 50)) ?? .zero)
        }
        #expect(largest <= .microseconds(1000))
    }

    @Test func absurdDelaysAreNotBelieved() {
        var delay = QueueDelay()
        #expect(delay.add(.microseconds(.max), now: at(0)) == nil)
        #expect(delay.add(.microseconds(.min), now: at(0)) == nil)
        delay.rebase()
        #expect(delay.add(.milliseconds(5), now: at(10)) == .zero)
        #expect(delay.add(.milliseconds(5), now: MediaTimestamp(microseconds: .min)) == .zero)
    }
}

@Suite struct StandingDelayTests {
    /// The first moment in milliseconds at which it is called the way, of delays each 50 ms.
    private func verdict(_ delays: (Int) -> Int, isSparse: (Int) -> Bool = { _ in true }) -> Int? {
        var standing = StandingDelay()
        return (0..<40).first { index in
            let now = MediaTimestamp(microseconds: Int64(index) * 50_000)
            return standing.add(.milliseconds(Int64(delays(index))), isSparse: isSparse(index), now: now)
        }.map { $0 * 50 }
    }

    @Test func whatStaysIsTheWay() {
        #expect(verdict { 20 + $0 % 4 } == 600)
        #expect(verdict { 300 + $0 % 4 } == 600)
    }

    /// A queue of half a second, then what is left; none of it is there before the queue is gone.
    @Test func aQueueShrinks() {
        #expect(verdict { max(500 - $0 * 17, 0) } == nil)
        #expect(verdict { max(300 - $0 * 20, 15) } ?? 0 >= 900)
    }

    @Test func aDelayThatIsNoHindranceIsLeftAlone() { #expect(verdict { 5 + $0 % 3 } == nil) }

    @Test func whileMuchIsSentNothingIsTold() {
        #expect(verdict({ _ in 50 }, isSparse: { _ in false }) == nil)
        #expect(verdict({ _ in 50 }, isSparse: { $0 % 10 != 0 }) == nil)
    }
}

@Suite struct DeliveredRateTests {
    @Test func bytesBecomeBits() {
        var rate = DeliveredRate()
        #expect(rate.rate(over: .zero) == nil)
        for index in 0..<100 {
            rate.add(total: UInt64(index) * 25_000, at: MediaTimestamp(microseconds: Int64(index) * 50_000))
        }
        #expect(rate.rate(over: .milliseconds(90)) == 4_000_000)
        #expect(rate.rate(over: .seconds(1)) == 4_000_000)
        #expect(rate.rate(over: .seconds(60)) == nil)
        // A count that falls begins anew.
        rate.add(total: 7, at: MediaTimestamp(microseconds: 5_000_000))
        #expect(rate.rate(over: .zero) == nil)
    }
}

@Suite struct QualityLadderTests {
    private func step(_ ladder: inout QualityLadder, _ bitrate: Int, from: Int64, seconds: Int64) -> QualityStep {
        for index in 0...(seconds * 20) {
            _ = ladder.update(
                bitrate: bitrate, now: MediaTimestamp(microseconds: from * 1_000_000 + index * 50_000))
        }
        return ladder.step
    }

    @Test func ratesThenSizes() {
        var ladder = QualityLadder(width: 1280, height: 720, frameRate: .fps30)
        #expect(ladder.step == QualityStep(index: 0, frameRate: .fps30))
        #expect(step(&ladder, 3_000_000, from: 0, seconds: 60).index == 0)
        #expect(step(&ladder, 1_000_000, from: 60, seconds: 20).frameRate.framesPerSecond == 20)
        #expect(step(&ladder, 600_000, from: 80, seconds: 20).frameRate.framesPerSecond == 15)
        #expect(ladder.step.lines == nil)
        #expect(step(&ladder, 400_000, from: 100, seconds: 20).lines == 540)
        #expect(step(&ladder, 100_000, from: 120, seconds: 20).lines == 360)
        #expect(ladder.step.frameRate.framesPerSecond == 15)
        // Up again, one after the other.
        let top = step(&ladder, 3_000_000, from: 140, seconds: 30)
        #expect(top.index == 0)
    }

    @Test func aRateBetweenTwoRungsDoesNotSwing() {
        var ladder = QualityLadder(width: 1280, height: 720, frameRate: .fps30)
        var changes = 0
        for index in 0..<2400 {
            // Around the border of 1.2 Mbit/s, 5 % to each side, a second each.
            let bitrate = index / 20 % 2 == 0 ? 1_140_000 : 1_260_000
            if ladder.update(bitrate: bitrate, now: MediaTimestamp(microseconds: Int64(index) * 50_000)) {
                changes += 1
            }
        }
        #expect(changes == 1)
    }

    @Test(arguments: [(640, 360, 30), (320, 180, 15), (1920, 1080, 60), (16, 16, 1), (8192, 8192, 1000)])
    func everySourceHasALadder(_ width: Int, _ height: Int, _ rate: Int) throws {
        let frameRate = try #require(FrameRate(UInt32(rate)))
        var ladder = QualityLadder(width: width, height: height, frameRate: frameRate)
        let bottom = step(&ladder, 0, from: 0, seconds: 60)
        #expect(bottom.frameRate.framesPerSecond <= frameRate.framesPerSecond)
        #expect(bottom.lines == (height > 360 ? 360 : nil))
        #expect(step(&ladder, .max, from: 60, seconds: 60) == QualityStep(index: 0, frameRate: frameRate))
    }
}

@Suite struct VideoFallbackTests {
    /// Each change with the time in seconds at which it came.
    private func run(_ fallback: inout VideoFallback, _ bitrate: Int, _ seconds: Range<Int>) -> [String] {
        var told: [String] = []
        for index in seconds.lowerBound * 20..<seconds.upperBound * 20 {
            let now = MediaTimestamp(microseconds: Int64(index) * 50_000)
            if let state = fallback.update(bitrate: bitrate, now: now) {
                told.append("\(state.rawValue)@\(Double(index) / 20)")
            }
        }
        return told
    }

    @Test func warnedThenOffThenOn() {
        var fallback = VideoFallback()
        #expect(run(&fallback, 1_000_000, 0..<10) == [])
        #expect(run(&fallback, 290_000, 10..<20) == ["1@12.0"])
        #expect(run(&fallback, 500_000, 20..<30) == ["2@22.0"])
        #expect(run(&fallback, 100_000, 30..<40) == ["1@32.0", "3@33.0"])
        #expect(!fallback.isOn)
        #expect(run(&fallback, 390_000, 40..<60) == [])
        #expect(run(&fallback, 410_000, 60..<70) == ["4@65.0"])
        #expect(fallback.isOn)
    }

    @Test func whoRelapsesWaitsLonger() {
        var fallback = VideoFallback()
        #expect(run(&fallback, 100_000, 0..<5) == ["1@2.0", "3@3.0"])
        #expect(run(&fallback, 500_000, 5..<12) == ["4@10.0"])
        #expect(run(&fallback, 100_000, 12..<17) == ["1@14.0", "3@15.0"])
        #expect(run(&fallback, 500_000, 17..<40) == ["4@27.0"])
    }

    @Test func aMomentChangesNothing() {
        var fallback = VideoFallback()
        for second in stride(from: 0, to: 60, by: 3) {
            #expect(run(&fallback, 100_000, second..<second + 1) == [])
            #expect(run(&fallback, 1_000_000, second + 1..<second + 3) == [])
        }
    }
}

@Suite struct SharedRateTests {
    @Test func theSlowestWithinReason() {
        #expect(SharedRate.choose([]) == nil)
        #expect(SharedRate.choose([5_000_000]) == 5_000_000)
        #expect(SharedRate.choose([6_000_000, 2_000_000, 4_000_000]) == 2_000_000)
        // Less than a quarter of the best one: it would spoil the picture of everybody.
        #expect(SharedRate.choose([6_000_000, 1_499_999, 3_000_000]) == 3_000_000)
        #expect(SharedRate.choose([0, 0]) == 0)
        #expect(SharedRate.choose([.max, .min]) == .max)
    }
}
