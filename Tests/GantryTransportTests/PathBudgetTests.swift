import Testing

@testable import GantryTransport

@Suite struct PathBudgetTests {
    @Test func aPictureThatFindsTheLinkEmptyGoesAtOnce() {
        var budget = PathBudget()
        budget.bytesUnderWay = 10_000
        _ = budget.video(unconfirmed: 0, isWaiting: false)
        #expect(budget.video(unconfirmed: 11_000, isWaiting: true) == .max)
        // What is under way now is its own.
        #expect(budget.video(unconfirmed: 200_000, isWaiting: true) == .max)
    }

    @Test func oneThatFindsAnotherUnderWayGoesInPieces() {
        var budget = PathBudget()
        budget.bytesUnderWay = 10_000
        _ = budget.video(unconfirmed: 0, isWaiting: false)
        let first = budget.video(unconfirmed: 13_000, isWaiting: true)
        #expect(1...8192 ~= first)
        #expect(budget.video(unconfirmed: 13_000 + first, isWaiting: true) == 0)
        #expect(budget.video(unconfirmed: 10_000, isWaiting: true) == first)
        // The next one is judged anew.
        _ = budget.video(unconfirmed: 0, isWaiting: false)
        #expect(budget.video(unconfirmed: 0, isWaiting: true) == .max)
    }

    @Test func absurdNumbersAreNoTrouble() {
        var budget = PathBudget()
        budget.bytesUnderWay = -5
        #expect(budget.video(unconfirmed: 0, isWaiting: true) == .max)
        budget.bytesUnderWay = .max
        #expect(budget.video(unconfirmed: .max, isWaiting: true) == .max)
    }
}
