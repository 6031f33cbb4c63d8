import GantryCore
import GantryMedia
import GantryPlatform

/// What the threads of `run` tell each other.
final class RunState: @unchecked Sendable {  // Everything is guarded by `condition`.
    enum End {
        case signal
        case source(MediaSourceEnd)
    }

    private let condition = Condition()
    private var end: End?
    private var hasStudio = false
    private var isOver = false

    func ended(_ end: End) {
        condition.withLock {
            if self.end == nil { self.end = end }
            condition.broadcast()
        }
    }

    func studioConnected() {
        condition.withLock {
            hasStudio = true
            condition.broadcast()
        }
    }

    /// Lets a source thread that waits for a studio go.
    func finish() {
        condition.withLock {
            isOver = true
            condition.broadcast()
        }
    }

    /// False when the tool ends first.
    func waitForStudio() -> Bool {
        condition.withLock {
            while !hasStudio && !isOver { condition.wait() }
            return hasStudio
        }
    }

    /// The end, once it has come; nil at `deadline`.
    func waitForEnd(until deadline: MediaTimestamp) -> End? {
        condition.withLock {
            while end == nil {
                if !condition.wait(until: deadline) { break }
            }
            return end
        }
    }
}
