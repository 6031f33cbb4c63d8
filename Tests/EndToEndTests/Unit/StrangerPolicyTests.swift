import GantryCore
import Testing

@testable import ProducerKit

/// Who may ask on the cable, and how often.
@Suite struct StrangerPolicyTests {
    private func key(_ number: UInt8) throws -> KeyID {
        try #require(KeyID(bytes: [UInt8](repeating: number, count: 32)))
    }

    @Test func byDefaultNobodyIsLetThrough() throws {
        #expect(!StrangerPolicy(.refuse).admits(try key(1), wasRemoved: false))
    }

    @Test func unaskedPairingLeavesOutWhoWasRemoved() throws {
        var policy = StrangerPolicy(.pair)
        #expect(policy.admits(try key(1), wasRemoved: false))
        #expect(!policy.admits(try key(1), wasRemoved: true))
        guard case .pair = policy.greeted(1) else { return #expect(Bool(false)) }
    }

    @Test func thereIsOneQuestionAtATime() throws {
        var policy = StrangerPolicy(.ask)
        guard case .ask = policy.greeted(1), case .busy = policy.greeted(2) else { return #expect(Bool(false)) }
        // Not its own question.
        #expect(!policy.ended(2, try key(2), isYes: false))
        #expect(policy.ended(1, try key(1), isYes: true))
        #expect(!policy.ended(1, try key(1), isYes: true))
        guard case .ask = policy.greeted(3) else { return #expect(Bool(false)) }
    }

    @Test func keysWithoutEndGetThreeQuestions() throws {
        var policy = StrangerPolicy(.ask)
        for number in UInt8(1)...3 {
            #expect(policy.admits(try key(number), wasRemoved: number == 2))
            guard case .ask = policy.greeted(UInt64(number)) else { return #expect(Bool(false)) }
            #expect(policy.ended(UInt64(number), try key(number), isYes: false))
            #expect(!policy.admits(try key(number), wasRemoved: false))
        }
        #expect(!policy.admits(try key(4), wasRemoved: false))
    }
}
