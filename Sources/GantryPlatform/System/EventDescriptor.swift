import CLinux
package import GantryCore
import Glibc

/// An eventfd: wakes a thread that sits in `poll`. Any thread may signal.
package final class EventDescriptor: Sendable {
    private let descriptor: FileDescriptor
    /// For `poll` with POLLIN.
    package var rawValue: CInt { descriptor.rawValue }

    package init() throws(GantryError) {
        do throws(SystemError) {
            descriptor = FileDescriptor(
                takingOwnership: try syscall("eventfd") { eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC)) })
        } catch {
            throw GantryError(
                .general, "No more files can be opened. Raise the limit with: ulimit -n 4096", cause: error.description)
        }
    }

    package func signal() {
        var one: UInt64 = 1
        _ = write(descriptor.rawValue, &one, 8)
    }

    /// Takes back all signals so far; `poll` sleeps again.
    package func clear() {
        var count: UInt64 = 0
        _ = read(descriptor.rawValue, &count, 8)
    }

    /// Sleeps until there is a signal, `duration` at most; true when there is one. It is not taken back.
    package func wait(for duration: MediaDuration) -> Bool {
        var waiting = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
        // Rounded up: a wait that is too short by a part of a millisecond would be repeated at once.
        return poll(&waiting, 1, CInt(clamping: (max(0, duration.microseconds) &+ 999) / 1000)) > 0
    }
}
