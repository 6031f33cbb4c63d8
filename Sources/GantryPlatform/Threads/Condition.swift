import CLinux
package import GantryCore
import Glibc

/// A lock with a wait for change, on the monotonic clock: a step of the wall clock neither shortens nor stretches a
/// wait.
package final class Condition: @unchecked Sendable {  // Is itself the protection.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Waits for a signal. Only inside `withLock`; look at the state again afterwards.
    package func wait() { pthread_cond_wait(condition, mutex) }

    /// As `wait()`, at most until `deadline` on the monotonic clock. False when that has passed.
    package func wait(until deadline: MediaTimestamp) -> Bool {
        // The kernel refuses a negative time with EINVAL, and a caller that loops would spin.
        guard deadline.microseconds > 0 else { return false }
        var time = timespec(
            tv_sec: Int(deadline.microseconds / 1_000_000), tv_nsec: Int(deadline.microseconds % 1_000_000) * 1000)
        return pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
    }

    package func signal() { pthread_cond_signal(condition) }
    package func broadcast() { pthread_cond_broadcast(condition) }
}
