import GantryCore
import Testing

/// The bars of a session that holds, in virtual time.
@Suite struct RateControllerTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5]

    /// 30 → 3 → 30 Mbit/s at 10 ms of round trip.
    @Test(arguments: seeds, [0, -5000.0]) func aDipOfTheLink(_ seed: UInt64, _ clockOffset: Double) {
        let link = VirtualLink([(0, 30e6), (5, 3e6), (15, 30e6)], delay: 0.005)
        var session = VirtualSession([link], clockOffset: clockOffset, seed: seed)
        session.run(until: 30)
        let studio = session.studios[0]
        let base = studio.percentile(95, 2..<5)
        #expect(studio.percentile(95, 5..<15) <= 75)
        #expect(studio.percentile(100, 5..<15) <= 175)
        #expect(studio.percentile(95, 16..<30) <= base + 3)
        #expect(studio.skipped <= 10)
        // All the sound came, none of it later than a picture.
        #expect(studio.link.sounds.count >= 2990)
        #expect(studio.link.sounds.allSatisfy { $0.time - $0.capture < 0.13 })
        // The picture is good again.
        #expect(session.rates.last?.rate == 6_000_000)
        #expect(session.rates.contains { $0.rate < 3_000_000 && $0.rate > 1_200_000 })
    }

    @Test(arguments: seeds) func aCapBelowTheBitrate(_ seed: UInt64) {
        var session = VirtualSession([VirtualLink([(0, 4e6)], delay: 0.01)], seed: seed)
        session.run(until: 40)
        let studio = session.studios[0]
        #expect(studio.percentile(95, 3..<40) <= 60)
        #expect(studio.percentile(50, 3..<40) <= 50)
        #expect(studio.skipped <= 40 * 30 / 20)
        // What the link has is used.
        #expect(session.rates.filter { $0.time > 5 }.allSatisfy { $0.rate >= 2_000_000 })
    }

    /// 30, then 4 Mbit/s: TCP overruns the queue of the link, loses segments, and stands still until they have come again. That is no
    /// measure of the link: the rate is cut to what it takes, not to nothing, and no picture rate or size is given up for it.
    @Test(arguments: seeds, [6_000_000, 12_000_000, 20_000_000])
    func aCapThatBeginsWhileTheRateIsHigh(_ seed: UInt64, _ maximum: Int) {
        let link = VirtualTCP([(0, 30e6), (5, 4e6)], delay: 0.01, room: 100_000)
        var session = VirtualSession([link], maximum: maximum, seed: seed)
        session.run(until: 20)
        let studio = session.studios[0]
        #expect(studio.percentile(95, 5..<20) <= 70)
        #expect(studio.percentile(95, 8..<20) <= 62)
        #expect(studio.skipped <= 15)
        let rates = session.rates.filter { $0.time > 5 }
        // 15 % of what 1280x720 asks for: below it there are fewer pictures (`QualityLadder`).
        #expect(rates.allSatisfy { $0.rate > 1_200_000 })
        // What the link has is used soon.
        #expect(rates.filter { $0.time > 10 }.allSatisfy { $0.rate >= 2_000_000 })
    }

    /// The link becomes slow and the way longer in the same moment, as in a change from WLAN to a telephone's network: what stays
    /// when the queue is gone is the way.
    @Test(arguments: seeds, [0.01, 0.03, 0.06]) func aCapOnALongerWay(_ seed: UInt64, _ delay: Double) {
        let link = VirtualLink([(0, 100e6), (2, 4e6)], delay: 0.0002, longer: (2, delay))
        var session = VirtualSession([link], seed: seed)
        session.run(until: 20)
        let studio = session.studios[0]
        #expect(studio.skipped <= 10)
        #expect(session.meanRate(4..<20) >= 1_800_000)
        #expect(session.rates.filter { $0.time > 2 }.allSatisfy { $0.rate > 1_200_000 })
        #expect(studio.percentile(50, 4..<20) <= 45 + delay * 1000)
        #expect(studio.percentile(95, 4..<20) <= 60 + delay * 1000)
    }

    /// A way that becomes longer by as much as a queue that is watched, and one that is cut for: nothing else changes.
    @Test(arguments: [0.012, 0.02, 0.03, 0.08]) func aLongerWayAlone(_ delay: Double) {
        let link = VirtualLink([(0, 100e6)], delay: 0.0002, longer: (2, delay))
        var session = VirtualSession([link])
        session.run(until: 20)
        #expect(session.studios[0].skipped == 0)
        #expect(session.meanRate(4..<20) >= 5_000_000)
        #expect(session.rates.last?.rate == 6_000_000)
    }

    @Test(arguments: seeds) func aStopOfTwoSeconds(_ seed: UInt64) {
        let link = VirtualLink([(0, 30e6), (5, 0), (7, 30e6)], delay: 0.005)
        var session = VirtualSession([link], seed: seed)
        session.run(until: 20)
        let studio = session.studios[0]
        #expect(studio.percentile(100, 8..<20) <= studio.percentile(100, 2..<4) + 5)
        // Three pictures were on their way, the others were not even encoded.
        #expect(studio.latencies(4.9..<7).count { $0 > 500 } <= 3)
        #expect(session.rates.last?.rate == 6_000_000)
    }

    @Test func aFreeLinkIsLeftAlone() {
        var session = VirtualSession([VirtualLink([(0, 100e6)], delay: 0.001)])
        session.run(until: 20)
        #expect(session.rates.map(\.rate) == [6_000_000])
        #expect(session.studios[0].skipped == 0)
        #expect(session.studios[0].link.pictures.count >= 598)
    }

    /// A slow studio has its rate followed within reason; a hopeless one is left to key frames.
    @Test func twoStudiosOfDifferentSpeed() {
        var session = VirtualSession([
            VirtualLink([(0, 30e6)], delay: 0.005), VirtualLink([(0, 3e6)], delay: 0.005),
        ])
        session.run(until: 20)
        #expect(session.studios[0].skipped == 0)
        #expect(session.studios[1].skipped <= 20)
        #expect(session.studios[1].percentile(95, 3..<20) <= 75)
        #expect(session.studios[0].percentile(95, 3..<20) <= 30)
    }

    @Test func aHopelessStudioDragsNobodyDown() {
        var session = VirtualSession([
            VirtualLink([(0, 30e6)], delay: 0.005), VirtualLink([(0, 0.3e6)], delay: 0.005),
        ])
        session.run(until: 20)
        #expect(session.studios[0].skipped == 0)
        #expect((session.rates.last { $0.time < 5 }?.rate ?? 0) == 6_000_000)
        #expect(session.studios[1].link.sounds.count > 1900)
    }

    /// A longer way is no queue: the rate is cut at first, and comes back.
    @Test func anotherRouteIsNoQueue() {
        var controller = RateController(.init(maximum: 6_000_000))
        var delay = QueueDelay()
        var lowest = Int.max
        var delivered: UInt64 = 0
        for index in 0..<1200 {
            let now = MediaTimestamp(microseconds: Int64(index) * 50_000)
            delivered += UInt64(controller.bitrate / 160)
            let way = index < 200 ? 20 : 90
            let queue = delay.add(.milliseconds(Int64(way + index % 3)), now: now)
            let report = RateController.Report(queueDelay: queue, delivered: delivered)
            if controller.update(report, now: now) { delay.rebase() }
            lowest = min(lowest, controller.bitrate)
        }
        #expect(lowest < 6_000_000)
        #expect(lowest > 2_000_000)
        #expect(controller.bitrate == 6_000_000)
    }

    /// What is late though the link holds nothing back was late before it: on a machine that is busy.
    @Test func aBusyMachineIsNoSlowLink() {
        var controller = RateController(.init(maximum: 6_000_000))
        for index in 0..<400 {
            let report = RateController.Report(
                queueDelay: .milliseconds(60), delivered: UInt64(index) * 30_000, isIdle: true)
            _ = controller.update(report, now: MediaTimestamp(microseconds: Int64(index) * 50_000))
        }
        #expect(controller.bitrate == 6_000_000)
    }

    @Test func silenceNeverRaisesTheRate() {
        var session = VirtualSession([VirtualLink([(0, 4e6), (10, 30e6)], delay: 0.01)])
        session.run(until: 10)
        let before = session.rates.last?.rate ?? 0
        #expect(before < 4_500_000)
        session.deafen(0, 10...20)
        session.run(until: 20)
        #expect((session.rates.last?.rate ?? 0) <= before * 105 / 100)
        session.run(until: 40)
        #expect(session.rates.last?.rate == 6_000_000)
    }

    @Test func absurdReportsAreClamped() {
        var controller = RateController(.init(maximum: .max, minimum: .min, reserved: .max))
        for (index, delay) in [Int64.max, .min, 0, -1, 1 << 60].enumerated() {
            for total in [UInt64.max, 0, 1 << 62] {
                let report = RateController.Report(
                    queueDelay: .microseconds(delay), delivered: total, isHeldUp: index % 2 == 0)
                _ = controller.update(report, now: MediaTimestamp(microseconds: delay &* 31))
                #expect(controller.bitrate >= 10_000)
            }
        }
        controller.setMaximum(-5)
        #expect(controller.bitrate == 10_000)
    }
}
