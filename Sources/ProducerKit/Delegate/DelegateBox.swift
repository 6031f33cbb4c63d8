import GantryCore
import GantryPlatform

/// The delegate of a controller and the controller itself, for threads that must keep neither alive. Any thread.
final class DelegateBox: @unchecked Sendable {  // All state is guarded by `lock`.
    /// Questions that are being answered at one time.
    static let maximumQuestions = ProducerServer.maximumSessions
    /// Of them about one studio: the one before may not be over yet when it connects again.
    static let maximumQuestionsOfOne = 2

    private let lock = Lock()
    private weak var storedController: ProducerController?
    private weak var storedDelegate: (any ProducerControllerDelegate)?
    /// How many are being answered, by studio.
    private var questions: [KeyID: Int] = [:]

    var controller: ProducerController? {
        get { lock.withLock { storedController } }
        set { lock.withLock { storedController = newValue } }
    }

    var delegate: (any ProducerControllerDelegate)? {
        get { lock.withLock { storedDelegate } }
        set { lock.withLock { storedDelegate = newValue } }
    }

    /// Asks the delegate about a studio; without one it comes in.
    func decide(_ peer: ProducerPeer, answer: @escaping @Sendable (Bool) -> Void) -> ProducerServer.Decision {
        guard delegate != nil else { return .admit }
        guard beginQuestion(peer.keyID) else { return .busy }
        do throws(GantryError) {
            return .asked(
                try AdmissionQuestion {
                    await self.ask(peer)
                } answer: { isYes in
                    self.endQuestion(peer.keyID)
                    answer(isYes)
                })
        } catch {
            endQuestion(peer.keyID)
            Log.error("\(error)")
            return .busy
        }
    }

    /// False when as many are being answered as may be.
    private func beginQuestion(_ keyID: KeyID) -> Bool {
        lock.withLock {
            let (ofOne, ofAll) = (questions[keyID, default: 0], questions.values.reduce(0, +))
            guard ofOne < Self.maximumQuestionsOfOne, ofAll < Self.maximumQuestions else { return false }
            questions[keyID] = ofOne + 1
            return true
        }
    }

    private func endQuestion(_ keyID: KeyID) {
        lock.withLock {
            let left = questions[keyID, default: 1] - 1
            questions[keyID] = left > 0 ? left : nil
        }
    }

    private func ask(_ peer: ProducerPeer) async -> Bool {
        guard let delegate, let controller else { return true }
        return await delegate.producerController(controller, shouldAcceptIncomingConnection: peer)
    }
}
