package import GantryCore
import GantryPlatform
import Glibc

/// A secret code on the alternate screen of a terminal, with a live countdown: drawn again when the size, the code or
/// the text changes, taken away when the process is stopped (Ctrl-Z), and for good with `close`.
///
/// Nothing of it stays on the terminal or in its scrollback. A thread of its own ("screen") draws and waits for
/// SIGWINCH, SIGTSTP and SIGCONT; the other methods are for any thread. One object a process at a time.
package final class CodeScreen: @unchecked Sendable {  // What varies is guarded by `lock`, `thread` by `state`.
    private let descriptor: CInt
    private let windowEnds: MediaTimestamp
    private let pipe: SignalPipe
    private let wake: EventDescriptor
    private let state = Condition()
    private var thread: NamedThread?

    private let lock = Lock()
    private var layout: CodeScreenLayout
    private var codeEnds: MediaTimestamp
    private var renderer = ScreenRenderer()
    /// The terminal's modes before; set while the alternate screen is ours.
    private var former: termios?
    private var isEntered = false
    private var isHidden = false
    private var isClosed = false

    /// Messages that are kept.
    private static let messageLimit = 8

    /// Whether `descriptor` is a terminal that can show a code.
    package static func isPossible(
        on descriptor: CInt = STDOUT_FILENO, terminalType: String? = Environment["TERM"]
    ) -> Bool {
        isatty(descriptor) == 1 && (terminalType ?? "dumb") != "dumb"
    }

    /// Draws with the first `show`.
    ///
    /// - Parameters:
    ///   - instructions: what the reader shall do, the most important first; safe to print.
    ///   - windowEnds: when nothing is left to do with the code.
    ///   - descriptor: of the terminal; open as long as this object lives.
    package init(
        instructions: [String], windowEnds: MediaTimestamp, descriptor: CInt = STDOUT_FILENO
    ) throws(GantryError) {
        self.descriptor = descriptor
        self.windowEnds = windowEnds
        layout = CodeScreenLayout(drawings: [], instructions: instructions)
        codeEnds = windowEnds
        wake = try EventDescriptor()
        pipe = try SignalPipe([SIGWINCH, SIGTSTP, SIGCONT])
        let thread = try NamedThread("screen") { [self] in run() }
        state.withLock { self.thread = thread }
    }

    // MARK: Any thread

    /// Shows another code, or the first.
    ///
    /// - Parameter drawings: the largest first; each of lines with colours.
    package func show(_ drawings: [CodeScreenLayout.Drawing], until ends: MediaTimestamp) {
        change {
            layout.drawings = drawings
            codeEnds = ends
        }
    }

    /// Shows a line of text below the others; the oldest go. One that is there moves down.
    package func add(message: String) {
        change {
            layout.messages.removeAll { $0 == message }
            layout.messages = (layout.messages + [message]).suffix(Self.messageLimit)
        }
    }

    /// Gives the terminal back for a while, for a question. Returns when the usual screen is there.
    package func hide() {
        lock.withLock {
            isHidden = true
            leave()
        }
    }

    /// Undoes `hide`.
    package func unhide() { change { isHidden = false } }

    /// Gives the terminal back for good and forgets the code, without waiting for the thread: for the last moment of
    /// a process.
    package func giveBack() {
        lock.withLock {
            isClosed = true
            layout.drawings = []
            leave()
        }
        wake.signal()
    }

    /// As `giveBack`, and ends the thread. Any number of times.
    package func close() {
        giveBack()
        state.withLock { thread }?.join()
        pipe.restore()
    }

    private func change(_ body: () -> Void) {
        lock.withLock(body)
        wake.signal()
    }

    // MARK: Screen thread

    private func run() {
        while !lock.withLock({ isClosed }) {
            draw()
            var waiting = [
                pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, nfds_t(waiting.count), timeToNextSecond)
            wake.clear()
            while let signal = pipe.next() { received(signal) }
        }
    }

    private func received(_ signal: CInt) {
        switch signal {
        case SIGTSTP:
            lock.withLock { leave() }
            pipe.performDefault(SIGTSTP)
        // Stopped without a chance to leave (SIGSTOP): others have written to the screen and changed its modes.
        case SIGCONT: lock.withLock { forget() }
        // The size is asked for with every drawing.
        default: break
        }
    }

    /// Milliseconds; the countdown changes then.
    private var timeToNextSecond: CInt {
        let left = max(0, (windowEnds - MonotonicClock.now()).microseconds)
        return CInt(truncatingIfNeeded: left % 1_000_000 / 1000 + 1)
    }

    private func draw() {
        lock.withLock {
            guard !isClosed, !isHidden, !layout.drawings.isEmpty, isInForeground,
                TerminalState.takesOutput(descriptor)
            else { return }
            if !isEntered { enter() }
            let now = MonotonicClock.now()
            layout.status = CodeCountdown.text(code: codeEnds - now, window: windowEnds - now)
            let size = TerminalSize(of: descriptor) ?? .standard
            write(renderer.draw(layout.lines(in: size), size: size))
        }
    }

    // MARK: Under the lock

    private func enter() {
        isEntered = true
        renderer.forget()
        setQuiet()
        write(ScreenRenderer.enter)
    }

    private func leave() {
        guard isEntered else { return }
        isEntered = false
        write(ScreenRenderer.leave)
        // In the background the modes are the shell's, and changing them would stop us (SIGTTOU).
        if var former, isInForeground { tcsetattr(descriptor, TCSANOW, &former) }
        former = nil
    }

    private func forget() {
        guard isEntered else { return }
        renderer.forget()
        if isInForeground { setQuiet() }
    }

    /// What is typed must not show in the middle of the code. Signals by keys stay.
    private func setQuiet() {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return }
        former = former ?? modes
        modes.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        tcsetattr(descriptor, TCSANOW, &modes)
    }

    private var isInForeground: Bool { TerminalState.isInForeground(descriptor) }

    private func write(_ text: String) {
        if !text.isEmpty { StandardStreams.write(text, to: descriptor) }
    }
}
