/// What a running tool shows of itself on a terminal: a title with its state, and labelled rows, the most important first. A
/// value; how it is drawn depends on the width only.
///
/// All text may come from outside: what could move the cursor becomes "?".
package struct LivePanel: Sendable {
    package enum Content: Sendable {
        /// Pieces that are joined by " · ", on as many lines as they need.
        case text([String])
        /// A text, and a curve of milliseconds behind it: evenly spaced over a minute, the oldest first; nil: not known then.
        case curve(String, [Double?])
        /// Peaks of each channel of sound, in dB of full scale (0 and below).
        case levels([Double])
    }

    package struct Row: Sendable {
        package let label: String
        package let content: Content
        package let isWarning: Bool

        package init(_ label: String, _ content: Content, isWarning: Bool = false) {
            self.label = label
            self.content = content
            self.isWarning = isWarning
        }
    }

    package let title: String
    /// Behind the title, joined as a row's pieces; the last are left out where there is no room.
    package let state: [String]
    package let rows: [Row]

    package init(title: String, state: [String], rows: [Row]) {
        self.title = title
        self.state = state
        self.rows = rows
    }

    private static let separator = " · "
    /// Cells that a curve must have to stand behind its text.
    private static let leastCurve = 12

    /// For a terminal of that width. The last cell of each line stays empty, since some terminals wrap there.
    package func lines(columns: Int, style: TextStyle) -> [ScreenLine] {
        let width = max(1, columns - 1)
        let indent = min((rows.map { TextCells.width($0.label) }.max() ?? 0) + 2, width / 3)
        let content = rows.flatMap { row -> [ScreenLine] in
            let room = width - indent
            return Self.content(row, room: room, style).enumerated().map { index, line in
                let label = TextCells.padded(
                    TextCells.printable(index == 0 ? row.label : "", limit: max(0, indent - 1)), to: indent)
                return ScreenLine(style.label(label) + line.text, columns: indent + line.columns)
            }
        }
        return [header(width, style)] + content
    }

    /// As in "── Camera · receiving · LAN ────".
    private func header(_ width: Int, _ style: TextStyle) -> ScreenLine {
        let room = max(1, width - 6)
        let name = TextCells.printable(title, limit: max(8, room / 2))
        let text = Self.filled([name] + state, to: room).first ?? ""
        let used = TextCells.width(text)
        guard width >= used + 6 else { return ScreenLine(text, limit: width) }
        return ScreenLine(
            style.label("── ") + style.strong(text)
                + style.label(" " + String(repeating: "─", count: width - used - 4)), columns: width)
    }

    private static func content(_ row: Row, room: Int, _ style: TextStyle) -> [ScreenLine] {
        switch row.content {
        case .text(let pieces):
            return filled(pieces, to: room).map { text in
                ScreenLine(row.isWarning ? style.warning(text) : text, columns: TextCells.width(text))
            }
        case .curve(let text, let values): return curve(text, values, room: room)
        case .levels(let levels): return [LevelBars.line(levels, room: room, style)]
        }
    }

    private static func curve(_ text: String, _ values: [Double?], room: Int) -> [ScreenLine] {
        let text = TextCells.printable(text, limit: room)
        let top = Sparkline.top(of: values)
        let scale = " 0-\(Figures.decimal(top, places: 0)) ms"
        func drawn(_ cells: Int) -> String { Sparkline.text(values, cells: min(values.count, cells), top: top) + scale }
        let beside = room - TextCells.width(text) - 2 - scale.count
        if beside >= leastCurve { return [ScreenLine("\(text)  \(drawn(beside))", limit: room)] }
        let below = room - scale.count
        return [ScreenLine(text, limit: room)] + (below > 0 ? [ScreenLine(drawn(below), limit: room)] : [])
    }

    /// Lines of at most `room` cells; a piece that is longer is cut.
    private static func filled(_ pieces: [String], to room: Int) -> [String] {
        var lines: [String] = []
        for piece in pieces where !piece.isEmpty {
            let piece = TextCells.printable(piece, limit: room)
            if let last = lines.last, TextCells.width(last) + separator.count + TextCells.width(piece) <= room {
                lines[lines.count - 1] = last + separator + piece
            } else {
                lines.append(piece)
            }
        }
        return lines
    }
}
