import GantryCore
import GantryPlatform
import Synchronization

/// Tells libavformat's blocking calls when to give up. Any thread.
package final class InputGuardian: Sendable {
    private let stopped = Atomic(false)
    private let limit = Atomic<Int64>(0)

    package init() {}

    var isStopped: Bool { stopped.load(ordering: .relaxed) }
    package func stop() { stopped.store(true, ordering: .relaxed) }

    var deadline: MediaTimestamp? {
        get {
            let value = limit.load(ordering: .relaxed)
            return value == 0 ? nil : MediaTimestamp(microseconds: value)
        }
        set { limit.store(newValue?.microseconds ?? 0, ordering: .relaxed) }
    }

    /// With what a call has ended: `LibAVError.exit` once the time was over, whatever libavformat made of that (RTSP and HTTP
    /// name other errors).
    func status(_ status: CInt) -> CInt { status < 0 && shouldInterrupt ? LibAVError.exit : status }

    var shouldInterrupt: Bool {
        if isStopped { return true }
        guard let deadline else { return false }
        return MonotonicClock.now() > deadline
    }
}
