import GantryCore
import GantryPlatform
import Glibc

/// Tells which keys are pressed on a terminal, while this process is in its foreground. One thread, "keys".
///
/// Until `stop` the terminal neither echoes nor waits for whole lines. Ctrl-C and Ctrl-Z do what they do; after Ctrl-Z the
/// shell has its terminal as it was.
package final class KeyReader: @unchecked Sendable {
    // `thread` is set once in `init`; `former` and `isOver` are guarded by `lock`.
    private let descriptor: CInt
    private let stopping: EventDescriptor
    private let lock = Lock()
    /// The terminal's state before; nil while it has that.
    private var former: termios?
    private var isOver = false
    private var thread: NamedThread?

    /// How often to look whether the terminal is ours again.
    private static let pause = MediaDuration.milliseconds(300)

    /// Nil when standard input is no terminal, or another process is in its foreground.
    ///
    /// - Parameter aside: called when the process is to be stopped (Ctrl-Z), to call its argument, which does that and returns
    ///   when it goes on.
    /// - Parameter pressed: called on the thread "keys"; false: no more is read.
    package convenience init?(
        aside: @escaping @Sendable (_ stop: () -> Void) -> Void = { $0() },
        pressed: @escaping @Sendable (KeyParser.Key) -> Bool
    ) {
        self.init(on: STDIN_FILENO, aside: aside, pressed: pressed)
    }

    /// - Parameter descriptor: stays open until `stop`.
    init?(
        on descriptor: CInt, aside: @escaping @Sendable (_ stop: () -> Void) -> Void = { $0() },
        pressed: @escaping @Sendable (KeyParser.Key) -> Bool
    ) {
        guard isatty(descriptor) == 1, Self.isInForeground(descriptor), let stopping = try? EventDescriptor(),
            let signals = try? SignalPipe([SIGTSTP])
        else { return nil }
        self.descriptor = descriptor
        self.stopping = stopping
        takeOver()
        let thread = try? NamedThread("keys") { [self] in run(signals, aside, pressed) }
        guard let thread else {
            restore()
            return nil
        }
        self.thread = thread
    }

    /// Gives the terminal back. Not from the callback.
    package func stop() {
        stopping.signal()
        thread?.join()
        restore()
    }

    /// Puts the terminal's state back, at once and without waiting: for a process that dies. Any thread.
    package func restore() {
        lock.withLock { isOver = true }
        giveBack()
    }

    private func giveBack() {
        lock.withLock {
            // Out of the foreground it belongs to somebody else, and asking for it would stop us.
            guard var state = former, Self.isInForeground(descriptor) else { return }
            former = nil
            tcsetattr(descriptor, TCSANOW, &state)
        }
    }

    private func takeOver() {
        lock.withLock {
            var state = termios()
            guard former == nil, !isOver, Self.isInForeground(descriptor), tcgetattr(descriptor, &state) == 0 else {
                return
            }
            former = state
            state.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL | ICANON)
            tcsetattr(descriptor, TCSANOW, &state)
        }
    }

    private static func isInForeground(_ descriptor: CInt) -> Bool { tcgetpgrp(descriptor) == getpgrp() }

    // MARK: The thread

    private func run(
        _ signals: SignalPipe, _ aside: (_ stop: () -> Void) -> Void, _ pressed: (KeyParser.Key) -> Bool
    ) {
        defer { signals.restore() }
        var parser = KeyParser()
        while true {
            let isOurs = Self.isInForeground(descriptor)
            // Also after it was in the background.
            if isOurs { takeOver() }
            var waiting = [
                pollfd(fd: stopping.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
                // poll(2) passes over a negative number. Reading in the background would stop us.
                pollfd(fd: isOurs ? descriptor : -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, nfds_t(waiting.count), isOurs ? -1 : CInt(Self.pause.milliseconds))
            if waiting[0].revents != 0 { return }
            while let signal = signals.next() {
                giveBack()
                aside { signals.performDefault(signal) }
            }
            guard waiting[2].revents != 0, Self.isInForeground(descriptor) else { continue }
            // One at a time: what is typed behind the last one is for the shell.
            var byte: UInt8 = 0
            let count = read(descriptor, &byte, 1)
            // The terminal has gone.
            if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) { return }
            if count == 1, let key = parser.feed(byte), !pressed(key) { return }
        }
    }
}
