import GantryCore
import GantryTestSupport
import Testing

/// A quarter of a minute of video at 30 frames and 6 Mbit/s, and sound, over networks that lose, in virtual time. 20 ms round trip.
@Suite struct VirtualStreamTests {
    private func video(
        _ faults: VirtualPath.Faults, seconds: Int = 15, seed: UInt64 = 1, bytes: ClosedRange<Int> = 18_000...32_000
    ) -> VirtualStream {
        let stream = VirtualStream(faults, seed: seed)
        var random = SeededRandom(seed: seed)
        for sequence in 0..<UInt32(seconds * 30) {
            #expect(stream.push(accessUnit(.random(in: bytes, using: &random), &random), sequence: sequence))
            stream.run(.microseconds(sequence % 3 == 0 ? 33_000 : 33_500))
        }
        stream.run(.seconds(1))
        #expect(stream.wrong == 0)
        return stream
    }

    private func faults(_ change: (inout VirtualPath.Faults) -> Void) -> VirtualPath.Faults {
        var faults = VirtualPath.Faults()
        change(&faults)
        return faults
    }

    private func figures(_ name: String, _ stream: VirtualStream) {
        print(
            "\(name): p50 \(stream.percentile(0.5)) p95 \(stream.percentile(0.95)) p99 \(stream.percentile(0.99)) max "
                + "\(stream.percentile(1)) ms, \(stream.delays.count) units, \(stream.lostUnits) lost, sent "
                + "\(stream.forward.bytes) bytes, \(stream.receiver.statistics)")
    }

    @Test func withoutLossNothingIsAdded() {
        let stream = video(faults { _ in }, seconds: 5)
        figures("clean", stream)
        #expect(stream.delays.count == 150)
        #expect(stream.percentile(1) <= 10.5)
        #expect(stream.receiver.statistics.requested == 0)
        #expect(stream.receiver.statistics.repaired == 0)
    }

    @Test(arguments: [(0.01, 20.0), (0.05, 25.0)])
    func lossCostsLittle(loss: Double, bar: Double) {
        let stream = video(faults { $0.loss = loss })
        figures("loss \(loss)", stream)
        #expect(stream.delays.count == 450)
        #expect(stream.lostUnits == 0)
        #expect(stream.percentile(0.95) <= bar)
    }

    /// A packet that comes again takes a round trip more, which is no queue: the bitrate stays. 200 ms there and back, and bursts that
    /// parity does not mend.
    @Test func repairIsNoQueue() {
        let stream = VirtualStream(faults { ($0.delay, $0.burst) = (.milliseconds(100), (0.004, 10)) })
        var random = SeededRandom(seed: 5)
        var arrived = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        var whole = LinkAdaptation(maximum: 6_000_000, hasSound: true)
        var lowest = (arrived: 6_000_000, whole: 6_000_000)
        func tell(_ adaptation: inout LinkAdaptation, _ sequence: UInt32, _ delay: MediaDuration) -> Int {
            let feedback = Feedback(
                channel: 1, sequence: sequence, presentationTime: stream.now,
                delay: Int32(clamping: delay.microseconds), jitter: 0, bytes: stream.mediaBytes, late: 0, dropped: 0)
            _ = adaptation.received(feedback, isVideo: true, measure: nil, now: stream.now)
            return adaptation.bitrate
        }
        for sequence in 0..<UInt32(600) {
            #expect(stream.push(accessUnit(.random(in: 18_000...32_000, using: &random), &random), sequence: sequence))
            stream.run(.microseconds(sequence % 3 == 0 ? 33_000 : 33_500))
            if let newest = stream.onTheWay.last {
                lowest.arrived = min(lowest.arrived, tell(&arrived, newest.sequence, newest.delay))
            }
            if let last = stream.lastSequence, let delay = stream.delays.last {
                lowest.whole = min(lowest.whole, tell(&whole, last, delay))
            }
        }
        print("lowest bitrate by arrival and by whole units \(lowest), \(stream.onTheWay.count) told")
        #expect(lowest.arrived == 6_000_000)
        // The time of repair is there, and would be taken for a queue.
        #expect(lowest.whole < 4_000_000)
        // Nine of ten tell.
        #expect(stream.onTheWay.count > 540)
        #expect(stream.onTheWay.allSatisfy { $0.delay <= .milliseconds(101) })
    }

    @Test func smallPicturesSurviveLoss() {
        let stream = video(faults { $0.loss = 0.05 }, bytes: 300...2000)
        figures("small", stream)
        #expect(stream.delays.count == 450)
        #expect(stream.percentile(0.95) <= 40)
    }

    @Test func burstsAreAskedForAgain() {
        let stream = video(faults { $0.burst = (0.002, 12) })
        figures("bursts", stream)
        #expect(stream.delays.count == 450)
        #expect(stream.percentile(0.95) <= 60)
    }

    @Test func orderAndCopiesDoNotMatter() {
        let stream = video(
            faults {
                $0.late = 0.1
                $0.doubled = 0.05
            })
        figures("order", stream)
        #expect(stream.delays.count == 450)
        #expect(stream.percentile(0.95) <= 20)
        // Reordering is not loss: parity and repetitions stay few.
        #expect(stream.receiver.statistics.requested < 400)
    }

    @Test func aHoleIsFilledAndThenDelayIsWhatItWas() {
        let stream = video(faults { $0.outage = 3_000_000..<3_400_000 }, seconds: 6)
        figures("hole", stream)
        #expect(stream.delays.count == 180)
        #expect(stream.delays.suffix(60).allSatisfy { $0 < .milliseconds(12) })
    }

    /// More than a receiver remembers: it goes on with what comes.
    @Test func aLongHoleIsLeftOutAndThenItGoesOn() {
        let stream = video(faults { $0.outage = 1_000_000..<5_500_000 }, seconds: 8, bytes: 40_000...60_000)
        figures("long hole", stream)
        #expect(stream.lostUnits > 0)
        #expect(stream.lastSequence == 239)
        #expect(stream.delays.suffix(60).allSatisfy { $0 < .milliseconds(12) })
    }

    @Test func soundSurvivesLoss() {
        let stream = VirtualStream(isVideo: false, faults { $0.loss = 0.05 })
        var random = SeededRandom(seed: 5)
        for sequence in 0..<1000 as Range<UInt32> {
            let packet = (0..<160).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(stream.push(packet, sequence: sequence))
            stream.run(.milliseconds(10))
        }
        stream.run(.seconds(1))
        figures("sound", stream)
        #expect(stream.wrong == 0)
        #expect(stream.delays.count == 1000)
        #expect(stream.percentile(0.95) <= 30)
    }

    @Test func aLargeUnitNeedsManyBlocks() {
        let stream = VirtualStream(faults { $0.loss = 0.02 }, payload: 1232)
        var random = SeededRandom(seed: 6)
        for sequence in 0..<20 as Range<UInt32> {
            #expect(stream.push(accessUnit(sequence == 10 ? 1_000_000 : 30_000, &random), sequence: sequence))
            stream.run(.milliseconds(100))
        }
        stream.run(.seconds(1))
        figures("large", stream)
        #expect(stream.wrong == 0)
        #expect(stream.delays.count == 20)
        #expect(!stream.push([UInt8](repeating: 1, count: DatagramLimits.largestUnit + 1), sequence: 21))
        #expect(!stream.push([], sequence: 22))
    }

    @Test func aSinkThatIsNotReadyLosesNothing() {
        let stream = VirtualStream(faults { _ in })
        var random = SeededRandom(seed: 7)
        stream.isOpen = false
        for sequence in 0..<5 as Range<UInt32> {
            #expect(stream.push(accessUnit(20_000, &random), sequence: sequence))
            stream.run(.milliseconds(33))
        }
        #expect(stream.delays.isEmpty)
        stream.isOpen = true
        stream.run(.milliseconds(50))
        #expect(stream.delays.count == 5)
        #expect(stream.lostUnits == 0)
    }
}
