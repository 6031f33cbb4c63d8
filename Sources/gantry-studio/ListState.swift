import GantryCore
import GantryPlatform
import StudioKit

/// What the threads of `list` tell each other.
final class ListState: @unchecked Sendable {  // Everything is guarded by `condition`.
    private let condition = Condition()
    private var producers: [DiscoveredProducer] = []
    private var failure: GantryError?
    private var changes = 0
    private var stopped = false

    func note(_ event: ProducerBrowser.Event) {
        condition.withLock {
            switch event {
            case .producers(let found): producers = found
            case .unavailable(let error): failure = error
            case .available: failure = nil
            }
            changes += 1
            condition.broadcast()
        }
    }

    /// Ctrl-C.
    func stop() {
        condition.withLock {
            stopped = true
            condition.broadcast()
        }
    }

    var isStopped: Bool { condition.withLock { stopped } }

    /// Waits until `deadline` (nil: without end), until the network cannot be searched, or, with `forChange`, until
    /// something else is known than at that number. `change` is the number of what is returned.
    func wait(
        until deadline: MediaTimestamp?, forChange seen: Int?
    ) -> (producers: [DiscoveredProducer], failure: GantryError?, change: Int) {
        condition.withLock {
            while !stopped {
                if let seen, changes != seen { break }
                if seen == nil, failure != nil { break }
                guard let deadline else {
                    condition.wait()
                    continue
                }
                if !condition.wait(until: deadline) { break }
            }
            return (producers, failure, changes)
        }
    }
}
