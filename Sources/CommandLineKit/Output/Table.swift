/// Rows in aligned columns, for people.
package struct Table: Sendable {
    package enum Alignment: Sendable { case left, right }

    private let header: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// - Parameter alignments: of the columns; missing ones are `left`.
    package init(_ header: [String], alignments: [Alignment] = []) {
        self.header = header.map { TextCells.printable($0) }
        self.alignments = alignments
    }

    /// Adds a row; missing cells are empty, cells beyond the header are left out. Control characters become "?".
    package mutating func add(_ cells: [String]) {
        rows.append(header.indices.map { $0 < cells.count ? TextCells.printable(cells[$0]) : "" })
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// Every line ends with a newline; columns are two blanks apart.
    package var text: String {
        let lines = [header] + rows
        let widths = header.indices.map { column in lines.map { TextCells.width($0[column]) }.max() ?? 0 }
        return lines.map { cells in
            var line = header.indices.map { column in
                let isRight = column < alignments.count && alignments[column] == .right
                return TextCells.padded(cells[column], to: widths[column], right: isRight)
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
