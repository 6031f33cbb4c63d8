import Glibc

/// Whether a terminal is to be written to now.
enum TerminalState {
    static func isInForeground(_ descriptor: CInt) -> Bool {
        let group = tcgetpgrp(descriptor)
        // −1: not the terminal of our session; nobody else controls it either.
        return group < 0 || group == getpgrp()
    }

    /// False while the terminal is stopped (Ctrl-S): writing would hold everybody who wants the lock of who writes.
    static func takesOutput(_ descriptor: CInt) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 0) == 1 && waiting.revents & Int16(POLLOUT) != 0
    }
}
