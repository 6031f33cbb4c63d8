import GantryCore
import GantryPlatform

/// What the callers of a virtual camera and its thread share.
final class VirtualCameraState: @unchecked Sendable {  // All that varies is guarded by `lock`; the slot is safe itself.
    enum Item: Sendable {
        case picture(Picture)
        case card
    }

    let slot = LatestSlot<Item>()
    private let lock = Lock()
    private var currentCard: VirtualCameraCard
    private var cardNumber = 0
    private var currentPath: String
    private var currentLayout: VirtualCameraLayout
    private var counters = VirtualCameraStatistics()

    init(card: VirtualCameraCard, path: String, layout: VirtualCameraLayout) {
        currentCard = card
        currentPath = path
        currentLayout = layout
    }

    var path: String { lock.withLock { currentPath } }
    var layout: VirtualCameraLayout { lock.withLock { currentLayout } }

    func deviceChanged(path: String, layout: VirtualCameraLayout) {
        lock.withLock { (currentPath, currentLayout) = (path, layout) }
    }

    func setCard(_ card: VirtualCameraCard) {
        lock.withLock {
            guard card != currentCard else { return }
            currentCard = card
            cardNumber &+= 1
        }
    }

    /// The card, when it is another one than that of `number`, which is then brought up to date.
    func card(after number: inout Int?) -> VirtualCameraCard? {
        lock.withLock {
            guard number != cardNumber else { return nil }
            number = cardNumber
            return currentCard
        }
    }

    func count(_ body: (inout VirtualCameraStatistics) -> Void) { lock.withLock { body(&counters) } }

    var statistics: VirtualCameraStatistics {
        let replaced = slot.droppedCount
        return lock.withLock {
            var result = counters
            result.dropped += replaced
            return result
        }
    }
}
