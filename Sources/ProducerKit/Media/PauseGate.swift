import GantryCore
import GantryPlatform

/// Whether media may go out. One for both pipelines, so that picture and sound stop at the same moment.
///
/// What was captured before the last resume never passes: neither what waited somewhere when the pause began, nor what
/// was captured during the pause. Any thread.
final class PauseGate: @unchecked Sendable {  // All state is guarded by `lock`.
    private let lock = Lock()
    private var paused = false
    private var resumedAt: MediaTimestamp?
    private var pauses = 0

    var isPaused: Bool { lock.withLock { paused } }

    /// How often a pause has begun: encoders look whether they must begin anew.
    var pauseCount: Int { lock.withLock { pauses } }

    /// False when it was so already. On return of `set(paused: true)` nothing passes any more.
    func set(paused new: Bool, now: MediaTimestamp) -> Bool {
        lock.withLock {
            guard paused != new else { return false }
            paused = new
            if new { pauses &+= 1 } else { resumedAt = now }
            return true
        }
    }

    func permits(_ capture: MediaTimestamp) -> Bool { lock.withLock { isOpen(capture) } }

    /// Runs `body`, which is quick, while no pause can begin. False when what was captured then must not go out.
    func pass(_ capture: MediaTimestamp, _ body: () -> Void) -> Bool {
        lock.withLock {
            guard isOpen(capture) else { return false }
            body()
            return true
        }
    }

    private func isOpen(_ capture: MediaTimestamp) -> Bool {
        guard !paused else { return false }
        guard let resumedAt else { return true }
        return capture >= resumedAt
    }
}
