import Testing

@testable import GantryCore

@Suite struct SecondWindowTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }

    @Test func theLastWholeSecondIsTold() {
        var window = SecondWindow()
        for step in 0..<30 as Range<Int64> { window.add(.milliseconds(step), at: time(5000 + step * 33)) }
        #expect(window.percentiles(at: time(5999)).count == 0)
        #expect(window.percentiles(at: time(6000)).count == 30)
        #expect(window.percentiles(at: time(6000)).p50 == 14_000)
        #expect(window.percentiles(at: time(6000)).maximum == 29_000)
        window.add(.milliseconds(99), at: time(6500))
        // Whoever reads, and how often, changes nothing.
        #expect(window.percentiles(at: time(6999)).count == 30)
        #expect(window.percentiles(at: time(7000)).p50 == 99_000)
    }

    @Test func aSecondWithoutAnythingIsEmpty() {
        var window = SecondWindow()
        window.add(.milliseconds(1), at: time(1000))
        #expect(window.percentiles(at: time(3000)) == .init())
        window.add(.milliseconds(2), at: time(3000))
        window.add(.milliseconds(3), at: time(9000))
        #expect(window.percentiles(at: time(9500)) == .init())
        #expect(window.percentiles(at: time(10_000)).count == 1)
    }

    @Test func theNewestOfACrowdedSecondCount() {
        var window = SecondWindow(capacity: 4)
        for step in 1...10 as ClosedRange<Int64> { window.add(.milliseconds(step), at: time(step)) }
        #expect(window.percentiles(at: time(1000)).count == 4)
        #expect(window.percentiles(at: time(1000)).p50 == 8000)
    }

    @Test func absurdTimesTrapNothing() {
        var window = SecondWindow()
        for time in [Int64.min, .max, 0, .min] {
            window.add(.microseconds(.max), at: .init(microseconds: time))
            _ = window.percentiles(at: .init(microseconds: time))
        }
    }
}
