import GantryCore
import Testing

@Suite struct LossWatchTests {
    /// What it says to each count at each time in milliseconds.
    private func answers(_ counts: [(count: UInt32, time: Int64)]) -> [Bool] {
        var watch = LossWatch()
        return counts.map {
            watch.add(retransmitted: $0.count, now: MediaTimestamp(microseconds: $0.time &* 1000))
        }
    }

    @Test func lossesInThreeOfFiveSeconds() {
        #expect(answers([(0, 0), (3, 500), (4, 1500), (5, 3200)]) == [false, false, false, true])
        #expect(answers([(0, 0), (3, 500), (4, 4500), (5, 8200)]) == [false, false, false, false])
    }

    /// An outage, or a queue that was full once.
    @Test func manyAtOnceAreNoLossyLink() {
        let storm = (0..<20).map { (count: UInt32($0 * 5), time: Int64($0) * 50) }
        let calm = (20..<400).map { (count: UInt32(100), time: Int64($0) * 50) }
        #expect(answers(storm + calm + [(101, 60_000)]).allSatisfy { !$0 })
        #expect(answers([(0, 0), (1, .min), (2, .max), (3, 0)]).allSatisfy { !$0 })
    }
}
