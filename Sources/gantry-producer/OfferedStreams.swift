import GantryCore
import GantryPlatform
import ProducerKit

/// Which of a run's streams studios are offered: those that the user has not switched off and whose device is there.
final class OfferedStreams: @unchecked Sendable {  // All state is guarded by `lock`, also while the controller is told.
    private let controller: ProducerController
    private let lock = Lock()
    private var switchedOff: Set<MediaKind> = []
    private var missing: Set<MediaKind> = []

    init(_ controller: ProducerController) { self.controller = controller }

    /// The user's wish.
    func set(_ kind: MediaKind, isOn: Bool) {
        lock.withLock {
            if isOn { switchedOff.remove(kind) } else { switchedOff.insert(kind) }
            apply(kind)
        }
    }

    /// The user's other wish.
    func toggle(_ kind: MediaKind) {
        lock.withLock {
            if switchedOff.remove(kind) == nil { switchedOff.insert(kind) }
            apply(kind)
        }
    }

    /// The device's state.
    func set(_ kind: MediaKind, isThere: Bool) {
        lock.withLock {
            if isThere { missing.remove(kind) } else { missing.insert(kind) }
            apply(kind)
        }
    }

    /// Its device has gone: it is looked for while there are studios that would receive it.
    func isMissed(_ kind: MediaKind) -> Bool {
        lock.withLock { missing.contains(kind) && !switchedOff.contains(kind) } && !controller.state.connections.isEmpty
    }

    private func apply(_ kind: MediaKind) {
        if switchedOff.contains(kind) || missing.contains(kind) {
            controller.endStream(kind)
        } else {
            controller.beginStream(kind)
        }
    }
}
