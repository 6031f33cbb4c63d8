import GantryMedia
import GantryPlatform

/// What the two sides of a `MuxOutput` share: how much waits, and what came out.
final class MuxState: @unchecked Sendable {  // Everything is guarded by `lock`.
    private let lock = Lock()
    /// Bytes that may wait, whatever a peer sends.
    private let byteLimit: Int
    private var waiting = 0
    private var dropped = 0
    private var result: RecordingSummary?

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// False when too much waits already: the packet is left out.
    func reserve(_ count: Int) -> Bool {
        lock.withLock {
            guard waiting + count <= byteLimit else {
                dropped += 1
                return false
            }
            waiting += count
            return true
        }
    }

    /// The packet has been taken out of the queue.
    func release(_ count: Int) { lock.withLock { waiting -= count } }

    /// The packet did not get into the queue.
    func refuse(_ count: Int) {
        lock.withLock {
            waiting -= count
            dropped += 1
        }
    }

    var droppedCount: Int { lock.withLock { dropped } }

    var summary: RecordingSummary? {
        get { lock.withLock { result } }
        set { lock.withLock { result = newValue } }
    }
}
