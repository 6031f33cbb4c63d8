/// The help of one command, wrapped to the width of a terminal.
struct HelpText {
    let path: [Command]
    /// Terminal cells; at least 40 are used.
    let width: Int

    private var cells: Int { min(max(width, 40), 120) }
    private var command: Command { path[path.count - 1] }
    private var name: String { path.map(\.name).joined(separator: " ") }

    var rendered: String {
        var lines = TextCells.wrapped("\(name): \(command.summary)", to: cells)
        lines.append("")
        lines += usageLines
        lines += section("Commands", command.visibleSubcommands.map { ($0.name, $0.summary) })
        lines += section("Arguments", command.positionals.map { ($0.name, $0.help) })
        for (title, options) in Option.groups(of: path) {
            lines += section(title, options.map { ($0.label, $0.text) })
        }
        if !command.examples.isEmpty {
            lines += ["", "Examples:"]
            for example in command.examples {
                lines.append("  \(example.line)")
                lines += TextCells.wrapped(example.meaning, to: cells - 6).map { "      \($0)" }
            }
        }
        for note in command.notes {
            lines.append("")
            lines += TextCells.wrapped(note, to: cells)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var usageLines: [String] {
        var lines: [String] = []
        for form in command.usageForms {
            let wrapped = TextCells.wrapped("\(name) \(form)", to: cells - 7)
            for line in wrapped { lines.append((lines.isEmpty ? "Usage: " : "       ") + line) }
        }
        return lines
    }

    private func section(_ title: String, _ rows: [(label: String, text: String)]) -> [String] {
        guard !rows.isEmpty else { return [] }
        var lines = ["", "\(title):"]
        // Labels share a column; a label too long for it stands on a line of its own.
        let column = min(rows.map { TextCells.width($0.label) }.max() ?? 0, cells * 2 / 5)
        let indent = String(repeating: " ", count: column + 4)
        for row in rows {
            let text = TextCells.wrapped(row.text, to: max(20, cells - column - 4))
            if TextCells.width(row.label) <= column {
                lines.append("  \(TextCells.padded(row.label, to: column))  \(text.first ?? "")".trimmedAtEnd)
                lines += text.dropFirst().map { indent + $0 }
            } else {
                lines.append("  \(row.label)")
                lines += text.map { indent + $0 }
            }
        }
        return lines
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
