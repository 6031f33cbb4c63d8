import GantryCore
import GantryPlatform

/// The delegate of a controller and the controller itself, for threads that must keep neither alive. Any thread.
final class DelegateBox: @unchecked Sendable {  // All state is guarded by `lock`.
    /// Questions that are being answered at one time.
    static let maximumQuestions = ProducerServer.maximumSessions

    private let lock = Lock()
    private weak var storedController: ProducerController?
    private weak var storedDelegate: (any ProducerControllerDelegate)?
    private var questions = 0

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
        let hasRoom = lock.withLock {
            guard questions < Self.maximumQuestions else { return false }
            questions += 1
            return true
        }
        guard hasRoom else { return .busy }
        do throws(GantryError) {
            return .asked(
                try AdmissionQuestion {
                    await self.ask(peer)
                } answer: { isYes in
                    self.lock.withLock { self.questions -= 1 }
                    answer(isYes)
                })
        } catch {
            lock.withLock { questions -= 1 }
            Log.error("\(error)")
            return .busy
        }
    }

    private func ask(_ peer: ProducerPeer) async -> Bool {
        guard let delegate, let controller else { return true }
        return await delegate.producerController(controller, shouldAcceptIncomingConnection: peer)
    }
}
