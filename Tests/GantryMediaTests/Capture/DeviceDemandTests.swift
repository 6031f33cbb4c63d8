import GantryCore
import Testing

@testable import GantryMedia

@Suite struct DeviceDemandTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }

    /// A moment without a receiver is no reason, whenever it comes.
    @Test func onlyASecondWithoutReceiversCounts() {
        var demand = DeviceDemand()
        let asked: [(Int64, Bool)] = [
            (0, true), (10, false), (1000, false), (1005, true), (1006, false), (2005, false), (2006, false),
        ]
        let answers = asked.map { demand.keeps($0.1, now: time($0.0)) }
        #expect(answers == [true, true, true, true, true, true, false])
        // Taken again: it begins anew.
        demand.begin()
        let again = demand.keeps(false, now: time(5000))
        #expect(again)
    }
}
