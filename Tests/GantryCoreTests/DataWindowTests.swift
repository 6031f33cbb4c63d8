import GantryCore
import Testing

@Suite struct DataWindowTests {
    /// Sender and receiver, with the credit that flows back between them.
    @Test func theSenderStopsAtTheWindowAndGoesOnWithCredit() throws {
        var (sender, receiver) = (DataWindow(), DataWindow())
        let count = 10_000
        let cost = count + DataWindow.overhead
        var under = 0
        while sender.pass(payload: count), receiver.pass(payload: count) { under += 1 }
        #expect(under == DataWindow.size / cost && sender.passed == receiver.passed)
        // The receiver sees one more as a breach.
        let isTaken = receiver.pass(payload: count)
        #expect(!isTaken)
        var credits: [DataCredit] = []
        for _ in 0..<under { if let credit = receiver.take(payload: count) { credits.append(credit) } }
        #expect(credits.map(\.taken) == [UInt64(14 * cost)] + (under >= 28 ? [UInt64(28 * cost)] : []))
        let isFair = sender.credited(try #require(credits.first))
        #expect(isFair)
        let goesOn = sender.pass(payload: count)
        #expect(goesOn)
    }

    @Test func emptyMessagesAreNotFree() {
        var sender = DataWindow()
        var count = 0
        while sender.pass(payload: 1) { count += 1 }
        #expect(count == DataWindow.size / (1 + DataWindow.overhead))
    }

    @Test(arguments: [UInt64.max, 1, DataWindow.creditStep])
    func creditForWhatWasNeverSentIsRefused(_ taken: UInt64) {
        var sender = DataWindow()
        let isFair = sender.credited(DataCredit(taken: taken))
        let isNothing = sender.credited(DataCredit(taken: 0))
        #expect(!isFair && isNothing)
    }

    @Test func anOlderCreditChangesNothing() {
        var sender = DataWindow()
        while sender.pass(payload: 1000) {}
        let answers = [sender.credited(DataCredit(taken: 200_000)), sender.credited(DataCredit(taken: 100))]
        #expect(answers == [true, true] && sender.taken == 200_000)
    }

    @Test(arguments: [Int.max, DataWindow.size, DataWindow.size - DataWindow.overhead + 1])
    func whatNeverFitsIsRefused(_ count: Int) {
        var sender = DataWindow()
        let isTaken = sender.pass(payload: count)
        #expect(!isTaken && sender.passed == 0)
    }

    @Test func labelsAndSizesAreChecked() throws {
        for label in ["", "a\u{7}b", " x", String(repeating: "x", count: 33)] {
            #expect(throws: GantryError.self) { try LabeledData(label: label, bytes: []) }
        }
        #expect(throws: GantryError.self) {
            try LabeledData(label: "x", bytes: Array(repeating: 0, count: LabeledData.maximumBytes + 1))
        }
        let label = String(repeating: "é", count: 16)
        let most = try LabeledData(label: label, bytes: Array(repeating: 7, count: LabeledData.maximumBytes))
        #expect(most.message.payloadSize == WireLimits.maximumData)
        let payload = ControlMessage.data(most.message).encode()
        #expect(payload.count == most.message.payloadSize)
        #expect(try ControlMessage.decode(type: .data, payload: payload) == .data(most.message))
    }
}
