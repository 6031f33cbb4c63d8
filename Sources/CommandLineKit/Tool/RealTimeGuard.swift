import GantryCore
import GantryPlatform
import Glibc

/// Keeps a thread that never sleeps from freezing the machine. The kernel counts how long a thread computes at real-time priority without a
/// pause, and sends SIGXCPU beyond RLIMIT_RTTIME (getrlimit(2)). A thread whose priority is above all others' then takes real-time
/// priority from the whole process. Like the process, it ends by itself.
enum RealTimeGuard {
    /// Many times what the most urgent threads take for a picture.
    private static let limit = MediaDuration.milliseconds(150)

    /// - Throws: `general` when no thread, or no more files, are to be had.
    static func start() throws(GantryError) {
        let signals = try SignalPipe([SIGXCPU])
        let never = try EventDescriptor()
        setLimit()
        _ = try NamedThread("priority", urgency: .watching) {
            signals.forEach(until: never) { _ in
                giveUp()
                return true
            }
        }
    }

    private static func giveUp() {
        let isNews = MediaPriority.way == .realtime
        MediaPriority.endRealTime()
        // The kernel has raised it. A thread that was about to begin may still have become one of them.
        setLimit()
        guard isNews else { return }
        Log.warning(
            "A thread has computed for \(Int(limit.milliseconds)) ms without a pause: real-time priority is given up, so that "
                + "other programs go on. A smaller picture, or fewer of them, takes less.")
    }

    private static func setLimit() {
        let resource = __rlimit_resource_t(__RLIMIT_RTTIME.rawValue)
        var now = rlimit()
        getrlimit(resource, &now)
        // Well before the hard limit, where the kernel kills: RealtimeKit asks for 200 ms.
        now.rlim_cur = min(now.rlim_max / 4 * 3, rlim_t(clamping: limit.microseconds))
        setrlimit(resource, &now)
    }
}
