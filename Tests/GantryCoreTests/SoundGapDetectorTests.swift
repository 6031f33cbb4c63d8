import Testing

@testable import GantryCore

@Suite struct SoundGapDetectorTests {
    private var detector = SoundGapDetector()
    private var sequence: UInt32 = 0

    /// The packet of 10 ms that begins at `milliseconds`, `late` ms later than usual.
    private mutating func packet(_ milliseconds: Int64, late: Int64 = 0, skip: UInt32 = 0) -> SoundGapDetector.Gap? {
        sequence &+= skip
        defer { sequence &+= 1 }
        let time = MediaTimestamp(microseconds: milliseconds * 1000)
        return detector.add(
            MediaHeader(sequence: sequence, presentationTime: time), arrived: time + .milliseconds(500 + late))
    }

    private mutating func steady(from: Int64, to: Int64) -> [SoundGapDetector.Gap] {
        stride(from: from, to: to, by: 10).compactMap { packet($0, late: $0 / 10 % 3 * 15) }
    }

    @Test mutating func unevenArrivalsAreNoGap() {
        #expect(steady(from: 0, to: 3000).isEmpty)
        #expect(detector.finish() == nil)
    }

    @Test mutating func whatIsHeldUpIsAGapWhenMoreThanAPlayerHolds() {
        #expect(steady(from: 0, to: 2000).isEmpty)
        // Nothing comes for 200 ms; then all of it does, at once.
        for step in 0..<20 as Range<Int64> {
            let late = 200 - step * 10
            let gap = packet(2000 + step * 10, late: late)
            #expect((gap != nil) == (step == 14 || gap != nil && step > 12), "step \(step)")
            guard let gap else { continue }
            #expect(gap.time == .init(microseconds: 2_700_000))
            #expect(gap.silence > .milliseconds(110))
            #expect(gap.silence <= .milliseconds(140))
            #expect(12...15 ~= gap.packetsLate)
            #expect(gap.packetsLost == 0)
        }
        #expect(steady(from: 2200, to: 4000).isEmpty)
    }

    @Test mutating func aShortJamIsNone() {
        #expect(steady(from: 0, to: 2000).isEmpty)
        for step in 0..<5 as Range<Int64> { #expect(packet(2000 + step * 10, late: 50 - step * 10) == nil) }
    }

    @Test mutating func whatIsMissingIsAGap() {
        #expect(steady(from: 0, to: 1000).isEmpty)
        let gap = packet(1030, skip: 3)
        #expect(gap?.packetsLost == 3)
        #expect(gap?.silence == .zero)
        #expect(steady(from: 1040, to: 2000).isEmpty)
    }

    @Test mutating func aGapAtTheEndIsTold() {
        #expect(steady(from: 0, to: 1000).isEmpty)
        #expect(packet(1000, late: 300) == nil)
        #expect(detector.finish()?.packetsLate == 1)
        #expect(detector.finish() == nil)
    }

    @Test mutating func anotherConnectionIsNotComparedWithThis() {
        detector.restart()
        #expect(packet(-300) == nil)
        #expect(steady(from: 0, to: 1000).isEmpty)
        detector.restart()
        // Only that nothing came meanwhile counts: the last one came at 990 + 500 and none or 15 or 30 late.
        let gap = packet(1500, late: 300, skip: 50)
        #expect(gap?.silence == .milliseconds(1500 + 300 - 990 - 60))
        #expect(gap?.packetsLost == 0)
        #expect(packet(1510, late: 300) == nil)
        #expect(detector.finish() == nil)
    }

    @Test func absurdStampsTrapNothing() {
        var detector = SoundGapDetector()
        for (index, stamp) in [Int64.min, .max, 0, -1, .min, .max].enumerated() {
            let header = MediaHeader(
                sequence: index % 2 == 0 ? .max : 0, presentationTime: .init(microseconds: stamp))
            _ = detector.add(header, arrived: .init(microseconds: Int64(index)))
        }
        _ = detector.finish()
    }
}
