import GantryCore
import GantryPlatform
import Glibc

/// How things stand, on standard error: one line, or a live view of several that are drawn again in place. Other output
/// goes through `write` so that both stay whole.
///
/// Any thread may call. The cursor stays below what is drawn, and is never hidden: a process that dies leaves a terminal in
/// order.
package final class StatusLine: @unchecked Sendable {  // All that varies is guarded by `lock`.
    /// Between two drawings of a live view.
    private static let liveInterval = MediaDuration.milliseconds(250)

    /// Whether `show(live:)` draws: on a terminal that can redraw, unless plain lines are wanted.
    package let isLive: Bool

    private let lock = Lock()
    private var renderer: StatusLineRenderer
    private var live = InPlaceLines()
    /// The live view as it was drawn last; empty: none is.
    private var lines: [ScreenLine] = []
    private var size = TerminalSize.standard
    private var lastLive: MediaTimestamp?
    private var holds = 0
    private let style: TextStyle
    private let descriptor: CInt
    private let isEnabled: Bool

    /// - Parameters:
    ///   - isEnabled: false for `--json` and `--quiet`: nothing is shown.
    ///   - isPlain: a line now and then, as in a file, on a terminal too.
    ///   - descriptor: where it goes; open as long as this object lives.
    ///   - terminalType: without one, or with `dumb`, nothing is redrawn in place.
    package init(
        isEnabled: Bool = true, isPlain: Bool = false, descriptor: CInt = STDERR_FILENO,
        terminalType: String? = Environment["TERM"]
    ) {
        let isRedrawn = !isPlain && isatty(descriptor) == 1 && (terminalType ?? "dumb") != "dumb"
        style = TextStyle(for: descriptor, terminalType: terminalType)
        renderer = StatusLineRenderer(mode: isRedrawn ? .inPlace : .plain, style: style)
        isLive = isEnabled && isRedrawn
        self.descriptor = descriptor
        self.isEnabled = isEnabled
    }

    /// Shows `text` in place of the line before. Calls that come too fast are left out.
    package func show(_ text: @autoclosure () -> String, isWarning: Bool = false) {
        guard isEnabled else { return }
        lock.withLock {
            if holds > 0 { return }
            let columns = (TerminalSize(of: descriptor) ?? .standard).columns
            let output = renderer.show(text(), isWarning: isWarning, columns: columns, now: MonotonicClock.now())
            if let output { StandardStreams.write(output, to: descriptor) }
        }
    }

    /// Shows a live view in place of the one before. Calls that come too fast are left out, as those in the background and
    /// while the terminal is stopped (Ctrl-S).
    package func show(live panel: @autoclosure () -> LivePanel) {
        guard isLive, lock.withLock({ isDue(at: MonotonicClock.now()) }) else { return }
        // Not under the lock: what it asks may log, which comes here.
        let panel = panel()
        lock.withLock {
            guard holds == 0, TerminalState.isInForeground(descriptor), TerminalState.takesOutput(descriptor) else {
                return
            }
            let former = (lines, size)
            size = TerminalSize(of: descriptor) ?? .standard
            lines = panel.lines(columns: size.columns, style: style)
            if former == (lines, size) { return }
            StandardStreams.write(live.draw(lines, size: size), to: descriptor)
        }
    }

    /// Under the lock: notes that there will be a drawing.
    private func isDue(at now: MediaTimestamp) -> Bool {
        if holds > 0 || lastLive.map({ now - $0 < Self.liveInterval }) ?? false { return false }
        lastLive = now
        return true
    }

    /// Takes all away, for the end or before somebody else writes to the terminal.
    package func clear() {
        lock.withLock { StandardStreams.write(takeAway(), to: descriptor) }
    }

    /// Takes all away, and shows nothing while `body` runs: it asks a question on the terminal, or stops the process.
    package func aside<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        lock.withLock {
            holds += 1
            StandardStreams.write(takeAway(), to: descriptor)
        }
        defer { lock.withLock { holds -= 1 } }
        return try body()
    }

    /// What is on the terminal is not known any more: the next drawing begins below it.
    func forget() {
        lock.withLock {
            live = InPlaceLines()
            lines = []
        }
    }

    /// Writes whole lines above what is shown.
    package func write(_ lines: String) {
        lock.withLock {
            let shown = self.lines
            var output = takeAway() + lines
            if !shown.isEmpty {
                output += live.draw(shown, size: TerminalSize(of: descriptor) ?? .standard)
                self.lines = shown
            }
            StandardStreams.write(output, to: descriptor)
        }
    }

    /// Lets log lines go through `write`, so that they do not run into what is shown. Undone by `Log.setSink(nil)`.
    package func takeOverLog() { Log.setSink { [self] in write($0) } }

    /// Under the lock.
    private func takeAway() -> String {
        let size = TerminalSize(of: descriptor) ?? .standard
        lines = []
        return renderer.clear() + live.clear(size: size)
    }
}
