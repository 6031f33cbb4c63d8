/// Where a code and the text about it stand on a screen; pure.
///
/// The largest drawing that fits is taken, with the text below it, or beside it where the terminal is wide and low.
package struct CodeScreenLayout: Sendable {
    /// A code, drawn. Lines of equal width.
    package struct Drawing: Sendable {
        package let columns: Int
        package let lines: [String]

        package init(columns: Int, lines: [String]) {
            self.columns = columns
            self.lines = lines
        }
    }

    /// The same code, the largest drawing first.
    package var drawings: [Drawing]
    /// How long all this is true; the first line of the text.
    package var status: String
    /// What to do, the most important first.
    package var instructions: [String]
    /// What has happened, the newest last.
    package var messages: [String]

    package init(drawings: [Drawing], status: String = "", instructions: [String] = [], messages: [String] = []) {
        self.drawings = drawings
        self.status = status
        self.instructions = instructions
        self.messages = messages
    }

    /// Lines of text below a code with which nothing important is missing.
    static let comfortableRows = 5
    /// With fewer the code is not shown.
    static let leastRows = 2
    /// Cells that text beside a code must have.
    static let leastColumnsBeside = 28
    static let gap = 2

    /// The whole content of a screen of `size`.
    package func lines(in size: TerminalSize) -> [ScreenLine] {
        for drawing in drawings {
            let room = size.rows - drawing.lines.count
            guard drawing.columns <= size.columns, room >= 0 else { continue }
            if room >= Self.comfortableRows { return below(drawing, size) }
            if size.columns >= Self.columnsBeside(drawing) { return beside(drawing, size) }
            if room >= Self.leastRows { return below(drawing, size) }
        }
        return tooSmall(size)
    }

    /// The size that a terminal of `size` must grow to at least; nil without a drawing.
    package func leastSize(from size: TerminalSize) -> TerminalSize? {
        guard let drawing = drawings.last else { return nil }
        let beside = Self.columnsBeside(drawing)
        if size.columns >= beside { return TerminalSize(columns: beside, rows: drawing.lines.count) }
        return TerminalSize(columns: drawing.columns, rows: drawing.lines.count + Self.leastRows)
    }

    private static func columnsBeside(_ drawing: Drawing) -> Int { drawing.columns + gap + leastColumnsBeside }

    private func below(_ drawing: Drawing, _ size: TerminalSize) -> [ScreenLine] {
        let text = text(columns: size.columns, rows: size.rows - drawing.lines.count)
        return drawing.lines.map { ScreenLine($0, columns: drawing.columns) } + text
    }

    private func beside(_ drawing: Drawing, _ size: TerminalSize) -> [ScreenLine] {
        let indent = drawing.columns + Self.gap
        let text = text(columns: size.columns - indent, rows: size.rows)
        let blanks = String(repeating: " ", count: Self.gap)
        var lines: [ScreenLine] = []
        for row in 0..<max(drawing.lines.count, text.count) {
            let isDrawn = row < drawing.lines.count
            let left = isDrawn ? drawing.lines[row] : String(repeating: " ", count: drawing.columns)
            guard row < text.count else {
                lines.append(ScreenLine(left, columns: drawing.columns))
                continue
            }
            lines.append(ScreenLine(left + blanks + text[row].text, columns: indent + text[row].columns))
        }
        return lines
    }

    /// Status, instructions, an empty line, messages; what does not fit is left out, the least important first.
    private func text(columns: Int, rows: Int) -> [ScreenLine] {
        var lines = [ScreenLine](wrapping: status, columns: columns)
        // As for a length, a bound for what a message may push away.
        let room = max(0, rows - lines.count)
        var told: [ScreenLine] = []
        for message in messages.reversed() {
            let wrapped = [ScreenLine](wrapping: message, columns: columns)
            let most = max(1, room / 2) - told.count
            if wrapped.count > most {
                // The newest is always seen, cut if it must be.
                if told.isEmpty { told = Array(wrapped.prefix(most)) }
                break
            }
            told = wrapped + told
        }
        var advice = instructions.flatMap { [ScreenLine](wrapping: $0, columns: columns) }
        advice = Array(advice.prefix(max(0, room - told.count)))
        lines += advice
        if !told.isEmpty, lines.count + told.count < rows { lines.append(ScreenLine("")) }
        return Array((lines + told).prefix(rows))
    }

    private func tooSmall(_ size: TerminalSize) -> [ScreenLine] {
        guard let least = leastSize(from: size) else {
            return centered([ScreenLine](wrapping: status, columns: size.columns), size)
        }
        return centered(
            [ScreenLine](
                wrapping: "Enlarge the terminal to at least \(least.columns) × \(least.rows)", columns: size.columns),
            size)
    }

    private func centered(_ lines: [ScreenLine], _ size: TerminalSize) -> [ScreenLine] {
        let above = [ScreenLine](repeating: ScreenLine(""), count: max(0, (size.rows - lines.count) / 2))
        return above
            + lines.map { line in
                let blanks = max(0, (size.columns - line.columns) / 2)
                return ScreenLine(
                    String(repeating: " ", count: blanks) + line.text, columns: blanks + line.columns)
            }
    }
}

extension [ScreenLine] {
    /// Broken at blanks; a longer word is cut.
    fileprivate init(wrapping text: String, columns: Int) {
        self = TextCells.wrapped(TextCells.printable(text), to: columns).map { ScreenLine($0, limit: columns) }
    }
}
