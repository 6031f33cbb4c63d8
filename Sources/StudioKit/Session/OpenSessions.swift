import GantryPlatform

/// The sessions of a controller that have been started and have not ended. Any thread.
final class OpenSessions: @unchecked Sendable {  // `sessions` is guarded by `lock`.
    private let lock = Lock()
    private var sessions: [StudioSession] = []

    var all: [StudioSession] { lock.withLock { sessions } }
    func add(_ session: StudioSession) { lock.withLock { sessions.append(session) } }
    func remove(_ session: StudioSession) { lock.withLock { sessions.removeAll { $0 === session } } }
}
