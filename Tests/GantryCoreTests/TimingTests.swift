import GantryCore
import GantryTestSupport
import Testing

@Suite struct TimingTests {
    /// One exchange over a way of the given delays; the peer's clock is `offset` ahead and `ppm` faster.
    private func exchange(
        _ estimator: inout ClockEstimator, at time: Int64, offset: Int64, ppm: Double = 0, there: Int64, back: Int64
    ) {
        func peer(_ local: Int64) -> MediaTimestamp {
            .init(microseconds: local + offset + Int64(Double(local) * ppm / 1_000_000))
        }
        estimator.add(
            sent: .init(microseconds: time), received: peer(time + there), answered: peer(time + there + 50),
            returned: .init(microseconds: time + there + 50 + back))
    }

    @Test func theSmallestRoundTripCounts() throws {
        var estimator = ClockEstimator()
        #expect(estimator.offset(at: .init(microseconds: 0)) == nil)
        #expect(estimator.roundTrip == nil)
        exchange(&estimator, at: 0, offset: 7_000_000, there: 40_000, back: 2_000)
        exchange(&estimator, at: 1_000_000, offset: 7_000_000, there: 500, back: 500)
        exchange(&estimator, at: 2_000_000, offset: 7_000_000, there: 1_000, back: 90_000)
        #expect(estimator.offset(at: .init(microseconds: 2_000_000)) == .microseconds(7_000_000))
        #expect(estimator.roundTrip == .microseconds(1000))
        #expect(estimator.local(.init(microseconds: 9_000_000)) == .init(microseconds: 2_000_000))
        // After 16 more the good one is forgotten.
        for second in 3..<19 {
            exchange(&estimator, at: Int64(second) * 1_000_000, offset: 7_000_000, there: 3000, back: 1000)
        }
        #expect(estimator.roundTrip == .microseconds(4000))
        // Its successors err by half of what their ways differ: 1 ms.
        let last = estimator.offset(at: .init(microseconds: 18_000_000))
        let offset = try #require(last)
        #expect(offset > .microseconds(7_000_500) && offset <= .microseconds(7_001_000))
    }

    @Test func drift() throws {
        var estimator = ClockEstimator()
        var random = SeededGenerator(seed: 4)
        for second in 0..<120 {
            exchange(
                &estimator, at: Int64(second) * 1_000_000, offset: -3_000_000, ppm: 80,
                there: 300 + Int64.random(in: 0...200, using: &random),
                back: 300 + Int64.random(in: 0...200, using: &random))
        }
        #expect(abs(estimator.driftPartsPerMillion - 80) < 8)
        let last = estimator.offset(at: .init(microseconds: 120_000_000))
        let offset = try #require(last)
        #expect(abs(offset.microseconds - (-3_000_000 + 9600)) < 300)
    }

    @Test func impossibleStampsAreIgnored() {
        var estimator = ClockEstimator()
        let values: [Int64] = [.min, .max, 0, -1, 1 << 52, 20_000_000]
        for a in values {
            for b in values {
                for c in values {
                    estimator.add(
                        sent: .init(microseconds: a), received: .init(microseconds: b),
                        answered: .init(microseconds: c),
                        returned: .init(microseconds: a &- 1))
                }
            }
        }
        #expect(estimator.roundTrip == nil)
        exchange(&estimator, at: 0, offset: 5, there: 1, back: 1)
        #expect(estimator.local(.init(microseconds: .min)) != nil)
        #expect(estimator.offset(at: .init(microseconds: .max)) != nil)
    }

    @Test func percentiles() {
        var window = PercentileWindow(capacity: 100)
        #expect(window.percentiles() == .init())
        for value in (1...100).reversed() { window.add(Int32(value)) }
        #expect(window.percentiles() == .init(count: 100, p50: 50, p95: 95, p99: 99, maximum: 100))
        // The oldest, which is 100, goes.
        window.add(1)
        #expect(window.percentiles().maximum == 99 && window.count == 100)
        window.removeAll()
        window.add(.seconds(1 << 40))
        #expect(window.percentiles() == .init(count: 1, p50: .max, p95: .max, p99: .max, maximum: .max))
    }

    @Test func percentilesAgreeWithSorting() {
        var random = SeededGenerator(seed: 8)
        for capacity in [1, 2, 3, 19, 64] {
            var window = PercentileWindow(capacity: capacity)
            var all: [Int32] = []
            for _ in 0..<150 {
                let value = Int32.random(in: -50...5000, using: &random)
                window.add(value)
                all.append(value)
                let sorted = all.suffix(capacity).sorted()
                let got = window.percentiles()
                for (percent, result) in [(50, got.p50), (95, got.p95), (99, got.p99)] {
                    #expect(sorted.filter { $0 <= result }.count * 100 >= sorted.count * percent)
                    #expect(sorted.filter { $0 < result }.count * 100 < sorted.count * percent)
                }
            }
        }
    }

    @Test func aCopiedWindowGoesOnLikeTheOriginal() {
        for count in [0, 3, 8, 13] {
            var window = PercentileWindow(capacity: 8)
            for value in 0..<count { window.add(Int32(value * 7 % 10 - 4)) }
            var copy = PercentileWindow(capacity: 8)
            for _ in 0..<20 { copy.add(1000) }
            copy.copy(window)
            #expect(copy.count == window.count && copy.percentiles() == window.percentiles())
            // Until the window is full the next value goes behind the others.
            window.add(.min)
            copy.add(.min)
            if count < 8 { #expect(copy.percentiles() == window.percentiles()) }
        }
    }

    @Test func jitter() {
        var steady = JitterEstimator()
        for n: Int64 in 0..<100 {
            steady.add(sent: .init(microseconds: n * 33_333), arrived: .init(microseconds: n * 33_333 + 9_000_000))
        }
        #expect(steady.jitter == .zero)
        var shaky = JitterEstimator()
        for n: Int64 in 0..<500 {
            let delay: Int64 = n.isMultiple(of: 2) ? 0 : 4000
            shaky.add(sent: .init(microseconds: n * 33_333), arrived: .init(microseconds: n * 33_333 + delay))
        }
        #expect(abs(shaky.jitter.microseconds - 4000) < 20)
        shaky.add(sent: .init(microseconds: .min), arrived: .init(microseconds: .max))
        shaky.add(sent: .init(microseconds: .max), arrived: .init(microseconds: .min))
        #expect(shaky.jitter.microseconds < 5000)
    }
}
