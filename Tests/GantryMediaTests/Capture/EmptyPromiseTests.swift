import GantryCore
import Testing

@testable import GantryMedia

@Suite struct EmptyPromiseTests {
    private func check(_ promise: inout EmptyPromise, _ milliseconds: Int64, _ expected: Bool) {
        let isOver = promise.broken(now: MediaTimestamp(microseconds: milliseconds * 1000))
        #expect(isOver == expected, "\(milliseconds) ms")
    }

    @Test func aDeviceThatIsReadyForNothingIsGivenUp() {
        var promise = EmptyPromise(patience: .seconds(5))
        for now in stride(from: Int64(0), to: 5000, by: 40) { check(&promise, now, false) }
        check(&promise, 5000, true)
    }

    @Test func oneGoodPictureIsPatienceForMore() {
        var promise = EmptyPromise(patience: .seconds(5))
        check(&promise, 0, false)
        check(&promise, 4999, false)
        promise.kept()
        check(&promise, 5001, false)
        check(&promise, 10_001, true)
    }

    /// A process that stood still for a minute finds a damaged picture first.
    @Test func timeWithoutQuestionsDoesNotCount() {
        var promise = EmptyPromise(patience: .seconds(5))
        promise.kept()
        check(&promise, 60_000, false)
        promise.kept()
        check(&promise, 120_000, false)
    }
}
