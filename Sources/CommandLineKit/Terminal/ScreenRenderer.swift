/// The bytes that make a terminal show lines; pure. Writes only the lines that have changed, over the ones before, so
/// that nothing flickers.
///
/// Control functions of ECMA-48 and, with "?", of xterm (XTerm Control Sequences).
package struct ScreenRenderer: Sendable {
    /// To the alternate screen, which has no scrollback; no cursor.
    package static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[0m\u{1B}[2J"
    /// Back to the usual screen. Erased before, for terminals that keep the alternate one, and those without it.
    package static let leave = "\u{1B}[0m\u{1B}[2J\u{1B}[H\u{1B}[?25h\u{1B}[?1049l"

    private var shown: [ScreenLine] = []
    private var size: TerminalSize?

    package init() {}

    /// What is on the screen is not known any more: the next drawing begins with an empty one.
    package mutating func forget() { size = nil }

    /// The bytes that make `lines` the whole content; empty when they are. Lines that do not fit are left out.
    package mutating func draw(_ lines: [ScreenLine], size: TerminalSize) -> String {
        var output = ""
        if self.size != size {
            output = "\u{1B}[?25l\u{1B}[0m\u{1B}[2J"
            shown = []
            self.size = size
        }
        let fitting = lines.prefix(size.rows).filter { $0.columns <= size.columns }
        let empty = ScreenLine("")
        for row in 0..<max(fitting.count, shown.count) {
            let line = row < fitting.count ? fitting[row] : empty
            guard line != (row < shown.count ? shown[row] : empty) else { continue }
            output += "\u{1B}[\(row + 1);1H\(line.text)"
            // In a full line the cursor stands on its last cell, and erasing would take that away.
            if line.columns < size.columns { output += "\u{1B}[K" }
        }
        shown = fitting
        return output
    }
}
