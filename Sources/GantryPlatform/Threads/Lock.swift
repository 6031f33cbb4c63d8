import CLinux
import Glibc

/// A mutual exclusion lock over `pthread_mutex_t`. Held for a few lines, never across a call that can block.
///
/// `Synchronization.Mutex` would do, but the thread sanitizer misreads it as an access race.
package final class Lock: @unchecked Sendable {  // Is itself the protection.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}
