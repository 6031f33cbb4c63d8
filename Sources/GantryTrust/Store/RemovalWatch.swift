package import GantryCore
import GantryPlatform

/// Ends the connections of devices that another process has removed: the command line shares the store with us.
///
/// A thread of its own: the store may block for another process's write, which no thread that carries media may do.
package final class RemovalWatch: @unchecked Sendable {
    // `isStopping` is guarded by `condition`; `thread` is set in `start`.
    /// How often the store is asked whether it has changed: a removal counts within a second.
    private static let interval = MediaDuration.milliseconds(500)

    private let store: DeviceStore
    private let threadName: String
    private let connected: @Sendable () -> Set<KeyID>
    private let removed: @Sendable (KeyID) -> Void
    private let condition = Condition()
    private var isStopping = false
    private var thread: NamedThread?

    /// - Parameters:
    ///   - connected: the devices that are connected now.
    ///   - removed: called on the watch's thread for each of them that is in the store no more.
    package init(
        _ store: DeviceStore, threadName: String, connected: @escaping @Sendable () -> Set<KeyID>,
        removed: @escaping @Sendable (KeyID) -> Void
    ) {
        self.store = store
        self.threadName = threadName
        self.connected = connected
        self.removed = removed
    }

    package func start() throws(GantryError) {
        thread = try NamedThread(threadName) { [self] in run() }
    }

    /// Ends the thread and waits for it.
    package func stop() {
        condition.withLock {
            isStopping = true
            condition.broadcast()
        }
        thread?.join()
    }

    private func run() {
        var checked: (peers: Set<KeyID>, change: Int64) = ([], 0)
        while waitForTurn() {
            let peers = connected()
            guard !peers.isEmpty else { continue }
            let now = (peers: peers, change: store.changeCounter)
            // Who has come since may have been removed after its handshake: looked at as well.
            if now == checked { continue }
            for peer in peers where isRemoved(peer) { removed(peer) }
            checked = now
        }
    }

    /// A store that cannot be read says nothing: a full disk must not end what runs.
    private func isRemoved(_ peer: KeyID) -> Bool {
        do throws(GantryError) {
            return try store.device(keyID: peer) == nil
        } catch {
            return false
        }
    }

    /// False when it is time to end.
    private func waitForTurn() -> Bool {
        let deadline = MonotonicClock.now() + Self.interval
        return condition.withLock {
            while !isStopping {
                if !condition.wait(until: deadline) { return true }
            }
            return false
        }
    }
}
