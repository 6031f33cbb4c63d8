import CLinux
import Glibc

/// For as long as a secret is in memory: while one of these lives, a crash leaves no core file, and no other process of
/// the same user can read the memory of this one (PR_SET_DUMPABLE in prctl(2), "Ptrace access mode checking" in
/// ptrace(2)). Root can still read it. The last one puts back what was there before. Any thread.
package final class CoreDumpGuard: Sendable {
    private static let lock = Lock()
    // Guarded by `lock`.
    private nonisolated(unsafe) static var count = 0
    private nonisolated(unsafe) static var wasDumpable = false
    private nonisolated(unsafe) static var formerLimit = rlimit()

    package init() {
        Self.lock.withLock {
            Self.count += 1
            if Self.count == 1 { Self.close() }
        }
    }

    deinit {
        Self.lock.withLock {
            Self.count -= 1
            if Self.count == 0 { Self.reopen() }
        }
    }

    /// Lives until `body` returns.
    package static func during<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let dumpGuard = CoreDumpGuard()
        defer { withExtendedLifetime(dumpGuard) {} }
        return try body()
    }

    private static func close() {
        wasDumpable = CLinux_get_dumpable() == 1
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &formerLimit)
        // Either would do for a core file; the limit does not count where a program takes the cores (core(5)).
        _ = CLinux_set_dumpable(0)
        var none = rlimit(rlim_cur: 0, rlim_max: formerLimit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    private static func reopen() {
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &formerLimit)
        if wasDumpable { _ = CLinux_set_dumpable(1) }
    }
}
