import GantryCore
import GantryPlatform

/// How the start of a session went: the pump's thread says it once, who opens waits for it.
final class USBOpening: @unchecked Sendable {  // `state` is guarded by `condition`.
    private enum State {
        case waiting, open
        case failed(GantryError)
    }

    private let condition = Condition()
    private var state = State.waiting

    func opened() { change(to: .open) }

    /// After `opened` it says nothing new.
    func ended(_ error: GantryError?) {
        change(to: .failed(error ?? GantryError(.peerLost, "The USB session ended before it had begun.")))
    }

    private func change(to new: State) {
        condition.withLock {
            guard case .waiting = state else { return }
            state = new
            condition.broadcast()
        }
    }

    /// Returns when the session is open. The pump has a time limit, so this ends.
    func wait() throws(GantryError) {
        let outcome = condition.withLock { () -> State in
            while case .waiting = state { condition.wait() }
            return state
        }
        if case .failed(let error) = outcome { throw error }
    }
}
