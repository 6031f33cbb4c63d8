package import GantryCore
import Glibc

/// `CLOCK_MONOTONIC`: the clock of all media stamps and deadlines.
package enum MonotonicClock {
    package static func now() -> MediaTimestamp {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MediaTimestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// Sleeps until `deadline`; returns at once when that has passed.
    package static func sleep(until deadline: MediaTimestamp) {
        guard deadline.microseconds > 0 else { return }
        var time = timespec(
            tv_sec: Int(deadline.microseconds / 1_000_000), tv_nsec: Int(deadline.microseconds % 1_000_000) * 1000)
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
