package import GantryCore

/// Draws a QR code with half blocks: two modules a cell, explicit black on white, so that dark and light terminals show
/// the same. Pure: makes lines of text; who prints them decides where.
package struct QRTerminal: Sendable {
    private let code: QRCode
    /// Light modules around the code: the standard asks for 4, phones and zbar read 2.
    package let quietZone: Int

    package init(_ code: QRCode, quietZone: Int = 2) {
        self.code = code
        self.quietZone = min(max(quietZone, 0), 16)
    }

    /// Cells a line.
    package var columns: Int { code.size + 2 * quietZone }
    /// Lines.
    package var rows: Int { (columns + 1) / 2 }

    /// The lines, top to bottom, each complete with its colours and a reset; without line feeds.
    package var lines: [String] { (0..<rows).map(line) }

    /// The lines if they fit.
    ///
    /// - Throws: `invalidState` that says how large the terminal must be. The quiet zone is not narrowed silently.
    package func lines(columns available: Int, rows availableRows: Int) throws(GantryError) -> [String] {
        guard columns <= available, rows <= availableRows else {
            throw GantryError(
                .invalidState,
                "The code needs \(columns) columns and \(rows) lines, the terminal has \(available) and "
                    + "\(availableRows). Enlarge the terminal, or write the code to a picture with --png FILE.")
        }
        return lines
    }

    /// Upper half in the foreground colour, lower half in the background colour.
    private func line(_ row: Int) -> String {
        var text = ""
        var lastColors = ""
        for column in 0..<columns {
            let x = column - quietZone
            let upper = code.isDark(x: x, y: 2 * row - quietZone)
            // The odd last line has no lower half: light, as the quiet zone.
            let lower = code.isDark(x: x, y: 2 * row + 1 - quietZone)
            let colors = Self.colors(upper: upper, lower: lower)
            if colors != lastColors {
                text += colors
                lastColors = colors
            }
            text += upper == lower ? " " : "\u{2580}"
        }
        return text + "\u{1B}[0m"
    }

    /// 256-colour codes 16 and 231 are pure black and white in every palette; 30 and 47 are often grey.
    private static func colors(upper: Bool, lower: Bool) -> String {
        "\u{1B}[38;5;\(upper ? 16 : 231);48;5;\(lower ? 16 : 231)m"
    }
}
