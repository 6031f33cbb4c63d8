import GantryCore
import GantryPlatform

/// Calls a delegate on a thread of its own, "studio-delegate": it may block, and call the session.
final class DelegateDelivery: @unchecked Sendable {  // `kept` is guarded by `lock`.
    let queue = BoundedQueue<StudioEvent>(capacity: SessionNews.capacity)

    private let lock = Lock()
    /// A session that has ended, which nobody else may hold any more.
    private var kept: StudioSession?

    /// - Throws: `general` when the system gives no thread.
    init(_ session: StudioSession, to delegate: any StudioSessionDelegate) throws(GantryError) {
        let queue = queue
        // Never joined: the delegate may be the one that lets go of the session, or may not come back.
        _ = try NamedThread("studio-delegate") { [weak session, weak delegate, self] in
            var hasStood = false
            while let event = queue.pop() {
                guard let session, let delegate else { continue }
                delegate.session(session, event, hasStood: &hasStood)
            }
            // Its outputs may go with it: not under the lock.
            let last = lock.withLock {
                defer { kept = nil }
                return kept
            }
            withExtendedLifetime(last) {}
        }
    }

    /// What waits is still delivered.
    func finish(keeping session: StudioSession? = nil) {
        lock.withLock { kept = session }
        queue.close()
    }
}

extension StudioSessionDelegate {
    /// The method for an event, behind the one for all.
    fileprivate func session(_ session: StudioSession, _ event: StudioEvent, hasStood: inout Bool) {
        self.session(session, didReceive: event)
        switch event {
        case .connected:
            if hasStood { sessionDidReconnect(session) } else { sessionDidConnect(session) }
            hasStood = true
        case .disconnected(let error): sessionDidDisconnect(session, error: error)
        case .streams(let change): self.session(session, streamsDidChange: change)
        case .playbackStopped(let stream): self.session(session, playbackDidStop: stream)
        case .player(let state): self.session(session, playerDidChange: state)
        case .videoState(let status): self.session(session, videoDidChange: status)
        case .decodingFailed(let error): self.session(session, decodingDidFail: error)
        case .ended(nil): sessionDidEnd(session)
        case .ended(let error?): self.session(session, didFail: error)
        case .connecting, .discoveryUnavailable, .paired, .format, .firstFrame, .rate, .paused, .resumed, .stoppedHere,
            .replay:
            break
        }
    }
}
