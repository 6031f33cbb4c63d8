import CLinux
import Glibc

/// Policy and nice value of threads, as sched(7) describes them. Any thread.
package enum ThreadSchedule {
    private static let process = __priority_which_t(PRIO_PROCESS.rawValue)

    /// Of the calling thread: with Linux each has its own.
    static var nice: Int32 { getpriority(process, 0) }

    /// Whether the calling thread has a policy or a nice value that somebody has given it to keep.
    static var isChosen: Bool { nice != 0 || sched_getscheduler(0) != SCHED_OTHER }

    /// Gives the calling thread SCHED_RR with this priority, or what RLIMIT_RTPRIO permits of it. What it makes, threads of libraries and of
    /// Swift's pool and other processes, has usual priority.
    ///
    /// - Returns: false when nothing is permitted.
    static func makeRealTime(_ wanted: Int32) -> Bool {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(__RLIMIT_RTPRIO.rawValue), &limit)
        return [wanted, min(wanted, Int32(clamping: limit.rlim_cur))].contains { priority in
            var parameters = sched_param(sched_priority: priority)
            return sched_setscheduler(0, SCHED_RR | Int32(CLinux_reset_on_fork), &parameters) == 0
        }
    }

    /// Gives the calling thread, and those that it makes, this nice value, or what RLIMIT_NICE permits of it.
    ///
    /// - Returns: false when nothing below the present value is permitted.
    @discardableResult static func lowerNice(to wanted: Int32) -> Bool {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(__RLIMIT_NICE.rawValue), &limit)
        // getrlimit(2): 20 minus the limit is the lowest value.
        let lowest = 20 - Int32(clamping: min(limit.rlim_cur, 40))
        return setpriority(process, 0, wanted) == 0
            || lowest < nice && setpriority(process, 0, max(wanted, lowest)) == 0
    }

    /// Takes from the calling thread what is below this value.
    static func raiseNice(to value: Int32) {
        if nice < value { setpriority(process, 0, value) }
    }

    /// Takes real-time priority from all threads of the process; from the calling one at last, or it might wait for a processor that
    /// another one computes on.
    static func endRealTime() {
        guard let folder = opendir("/proc/self/task") else { return }
        defer { closedir(folder) }
        let own = gettid()
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { atoi($0) }
            }
            // Not . and ..
            if name > 0, name != own { endRealTime(of: name) }
        }
        endRealTime(of: own)
    }

    private static func endRealTime(of thread: pid_t) {
        let policy = sched_getscheduler(thread)
        let kept = policy & Int32(CLinux_reset_on_fork)
        guard policy >= 0, [SCHED_RR, SCHED_FIFO].contains(policy & ~kept) else { return }
        var parameters = sched_param(sched_priority: 0)
        // To take the flag away needs a right of its own.
        sched_setscheduler(thread, SCHED_OTHER | kept, &parameters)
    }
}
