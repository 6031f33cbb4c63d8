import Glibc

/// Columns and rows of a terminal.
package struct TerminalSize: Sendable, Hashable {
    package let columns: Int
    package let rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// What was usual before windows: for pipes and files.
    package static let standard = TerminalSize(columns: 80, rows: 24)

    /// Nil when `descriptor` is no terminal, or one that does not know its size.
    package init?(of descriptor: CInt) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Of standard error (where status lines and prompts go), else of standard output, else `standard`.
    package static var current: TerminalSize {
        TerminalSize(of: STDERR_FILENO) ?? TerminalSize(of: STDOUT_FILENO) ?? .standard
    }
}
