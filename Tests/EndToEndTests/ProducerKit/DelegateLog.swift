import GantryPlatform
import GantryTestSupport
import ProducerKit

/// A delegate that notes what it is told, and does what a test wants at it.
final class DelegateLog: ProducerControllerDelegate {
    let states = Watched<[ProducerState]>([])
    let samples = Watched<[Int]>([])
    let asked = Watched<[ProducerPeer]>([])
    /// Names of the threads that it was called on.
    let threads = Watched<Set<String>>([])
    private let accepts: @Sendable (ProducerPeer) async -> Bool
    private let changed: @Sendable (ProducerController, ProducerState) -> Void

    init(
        accepts: @escaping @Sendable (ProducerPeer) async -> Bool = { _ in true },
        changed: @escaping @Sendable (ProducerController, ProducerState) -> Void = { _, _ in }
    ) {
        self.accepts = accepts
        self.changed = changed
    }

    func producerController(
        _ controller: ProducerController, shouldAcceptIncomingConnection studio: ProducerPeer
    ) async -> Bool {
        asked.change { $0.append(studio) }
        return await accepts(studio)
    }

    func producerController(_ controller: ProducerController, stateDidChangeTo state: ProducerState) {
        threads.change { $0.insert(ProcessView.currentThreadName) }
        states.change { $0.append(state) }
        changed(controller, state)
    }

    func producerController(_ controller: ProducerController, audioSamplesRequiredDidChangeTo count: Int) {
        samples.change { $0.append(count) }
    }
}
