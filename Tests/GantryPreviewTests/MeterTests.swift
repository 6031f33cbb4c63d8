import GantryCore
import GantryMedia
import Testing

@testable import GantryPreview

@Suite struct MeterTests {
    private static func time(_ milliseconds: Int64) -> MediaTimestamp {
        MediaTimestamp(microseconds: milliseconds * 1000)
    }

    private static func add(_ left: Float, _ right: Float, to meter: LevelMeter) {
        let samples = (0..<480).flatMap { _ in [left, -right] }
        samples.withUnsafeBufferPointer { meter.feed($0) }
    }

    @Test func fullScaleIsZeroAndHalfIsSixBelow() throws {
        let meter = LevelMeter()
        var held = HeldLevels(meter)
        let before = held.read(at: Self.time(0))
        #expect(before == nil)
        Self.add(1, 0.5, to: meter)
        let levelsRead = held.read(at: Self.time(100))
        let levels = try #require(levelsRead)
        #expect(levels.left.peak == 0 && levels.left.hold == 0)
        #expect(abs(levels.right.peak + 6.02) < 0.01)
    }

    @Test func itFallsAndHoldsThePeak() throws {
        let meter = LevelMeter()
        var held = HeldLevels(meter)
        Self.add(1, 1, to: meter)
        _ = held.read(at: Self.time(0))
        let soonRead = held.read(at: Self.time(1000))
        let soon = try #require(soonRead)
        #expect(abs(soon.left.peak + 20) < 0.01 && soon.left.hold == 0)
        let laterRead = held.read(at: Self.time(2000))
        let later = try #require(laterRead)
        #expect(abs(later.left.hold + 40) < 0.01)
        let endRead = held.read(at: Self.time(60_000))
        let end = try #require(endRead)
        #expect(end.left.peak == HeldLevels.floor)
    }

    /// A peer's sound may be anything.
    @Test(arguments: [Float.nan, .infinity, -.infinity, 1e30, 0, .leastNonzeroMagnitude])
    func noSampleLeavesTheScale(_ value: Float) throws {
        let meter = LevelMeter()
        var held = HeldLevels(meter)
        Self.add(value, value, to: meter)
        let levelsRead = held.read(at: Self.time(0))
        let levels = try #require(levelsRead)
        #expect(HeldLevels.floor...0 ~= levels.left.peak && HeldLevels.floor...0 ~= levels.right.hold)
        [Float(0.5)].withUnsafeBufferPointer { meter.feed($0) }
        meter.feed(UnsafeBufferPointer(start: nil, count: 0))
    }

    @Test func theHistoryKeepsTheNewest() {
        var history = LatencyHistory()
        #expect(history[0] == nil && history.percentiles().count == 0)
        for count in 1...(LatencyHistory.capacity + 5) {
            history.add(decoded: .microseconds(Int64(count)), shown: .microseconds(Int64(count + 10)))
        }
        #expect(history.count == LatencyHistory.capacity)
        #expect(history[0]?.decoded == Int32(LatencyHistory.capacity + 5))
        #expect(history[LatencyHistory.capacity - 1]?.decoded == 6)
        #expect(history[LatencyHistory.capacity] == nil && history[-1] == nil)
        #expect(history.windowPercentiles().maximum == 10)
        history.add(decoded: .microseconds(.max), shown: .microseconds(.min))
        #expect(history[0] == .init(decoded: .max, shown: 0))
        history.removeAll()
        #expect(history.count == 0)
    }

    @Test func theScaleHoldsWhatIsShown() {
        for (largest, scale) in [(0, 20), (20_000, 20), (20_001, 50), (400_000, 500), (Int32.max, 10_000)] {
            #expect(LatencyHistory.scale(for: Int32(largest)) == Int32(scale))
        }
    }
}
