import GantryPlatform

/// Whether callbacks of a browse or an advertisement are still wanted. Closed once, by any thread.
final class CallbackGate: @unchecked Sendable {  // `open` is guarded by `lock`.
    private let lock = Lock()
    private var open = true

    var isOpen: Bool { lock.withLock { open } }

    func close() { lock.withLock { open = false } }
}
