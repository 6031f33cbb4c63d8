import GantryCore
import GantryPlatform
import Glibc

/// One line on standard error that says how things stand; other output goes through `write` so that both stay whole.
///
/// Any thread may call.
package final class StatusLine: @unchecked Sendable {  // `renderer` and `isHeld` are guarded by `lock`.
    private let lock = Lock()
    private var renderer: StatusLineRenderer
    private let descriptor: CInt
    private let isEnabled: Bool
    private var isHeld = false

    /// - Parameters:
    ///   - isEnabled: false for `--json` and `--quiet`: `show` does nothing.
    ///   - descriptor: where the line goes; open as long as this object lives.
    ///   - terminalType: without one, or with `dumb`, nothing is redrawn in place.
    package init(
        isEnabled: Bool = true, descriptor: CInt = STDERR_FILENO, terminalType: String? = Environment["TERM"]
    ) {
        let isRedrawn = isatty(descriptor) == 1 && (terminalType ?? "dumb") != "dumb"
        renderer = StatusLineRenderer(
            mode: isRedrawn ? .inPlace : .plain, style: TextStyle(for: descriptor, terminalType: terminalType))
        self.descriptor = descriptor
        self.isEnabled = isEnabled
    }

    /// Shows `text` in place of the line before. Calls that come too fast are left out.
    package func show(_ text: @autoclosure () -> String, isWarning: Bool = false) {
        guard isEnabled else { return }
        lock.withLock {
            if isHeld { return }
            let columns = (TerminalSize(of: descriptor) ?? .standard).columns
            let output = renderer.show(text(), isWarning: isWarning, columns: columns, now: MonotonicClock.now())
            if let output { StandardStreams.write(output, to: descriptor) }
        }
    }

    /// Takes the line away, for the end or before somebody else writes to the terminal.
    package func clear() {
        lock.withLock { StandardStreams.write(renderer.clear(), to: descriptor) }
    }

    /// Takes the line away, and shows none until `release`: somebody asks a question on the terminal.
    package func hold() {
        lock.withLock {
            isHeld = true
            StandardStreams.write(renderer.clear(), to: descriptor)
        }
    }

    package func release() { lock.withLock { isHeld = false } }

    /// Writes whole lines above the status line.
    package func write(_ lines: String) {
        lock.withLock { StandardStreams.write(renderer.clear() + lines, to: descriptor) }
    }

    /// Lets log lines go through `write`, so that they do not run into the status line. Undone by
    /// `Log.setSink(nil)`.
    package func takeOverLog() { Log.setSink { [self] in write($0) } }
}
