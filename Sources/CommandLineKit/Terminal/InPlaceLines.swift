/// The bytes that keep a few lines at the end of the usual screen, drawn again in place; pure. The cursor stands below
/// them.
package struct InPlaceLines: Sendable {
    /// What is drawn now: the cells of each line.
    private var widths: [Int] = []

    package init() {}

    /// Draws `lines` over the ones before. Lines that do not fit are left out, so that nothing scrolls away.
    package mutating func draw(_ lines: [ScreenLine], size: TerminalSize) -> String {
        let fitting = lines.prefix(max(0, size.rows - 1)).filter { $0.columns < size.columns }
        var output = back(size)
        for line in fitting { output += line.text + "\u{1B}[K\r\n" }
        // ECMA-48 ED: what was longer before.
        output += "\u{1B}[J"
        widths = fitting.map(\.columns)
        return output
    }

    /// Takes them away; empty when there are none.
    package mutating func clear(size: TerminalSize) -> String {
        guard !widths.isEmpty else { return "" }
        defer { widths = [] }
        return back(size) + "\u{1B}[J"
    }

    /// To the first of the lines that are drawn. A terminal that has become narrower has wrapped them.
    private func back(_ size: TerminalSize) -> String {
        let columns = max(1, size.columns)
        let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
        return rows == 0 ? "\r" : "\r\u{1B}[\(rows)A"
    }
}
