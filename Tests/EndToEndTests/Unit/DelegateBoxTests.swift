import GantryTestSupport
import Testing

@testable import GantryCore
@testable import ProducerKit

/// Never answers until it is let go.
private final class SilentDelegate: ProducerControllerDelegate {
    let isFree = Watched(false)
    func producerController(
        _ controller: ProducerController, shouldAcceptIncomingConnection studio: ProducerPeer
    ) async -> Bool {
        isFree.waitBlocking { $0 }
        return true
    }
}

@Suite struct DelegateBoxTests {
    private func peer(_ number: UInt8) throws -> ProducerPeer {
        ProducerPeer(
            keyID: try #require(KeyID(bytes: Array(repeating: number, count: 32))), name: "Studio \(number)",
            address: "127.0.0.\(number):1", transport: .network)
    }

    /// A studio that connects again and again while it is asked about leaves places for the others.
    @Test func oneStudioDoesNotTakeAllQuestions() async throws {
        let folder = try TestFolder()
        let controller = try ProducerController(
            configuration: ProducerConfiguration(stateDirectory: folder.file("producer")))
        let delegate = SilentDelegate()
        let box = DelegateBox()
        box.controller = controller
        box.delegate = delegate
        let answers = Watched(0)
        func isAsked(_ number: UInt8) throws -> Bool {
            if case .asked = box.decide(try peer(number), answer: { _ in answers.change { $0 += 1 } }) { return true }
            return false
        }
        let ofOne = try (0..<20).map { _ in try isAsked(1) }
        #expect(ofOne.count { $0 } == DelegateBox.maximumQuestionsOfOne)
        let ofOthers = try (2...30).map { try isAsked($0) }
        #expect(ofOthers.count { $0 } == DelegateBox.maximumQuestions - DelegateBox.maximumQuestionsOfOne)
        delegate.isFree.change { $0 = true }
        #expect(try await answers.wait { $0 == DelegateBox.maximumQuestions })
        // All places are free again.
        #expect(try isAsked(1) && isAsked(40))
        #expect(try await answers.wait { $0 == DelegateBox.maximumQuestions + 2 })
    }
}
