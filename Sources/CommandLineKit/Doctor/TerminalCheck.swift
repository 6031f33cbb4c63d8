import Glibc

/// Whether a terminal can show the pairing code.
package enum TerminalCheck {
    /// A code is a QR picture of 45 modules and a border, two modules in a cell, with two lines of text (`CodeScreenLayout`).
    static let least = TerminalSize(columns: 49, rows: 27)

    /// Standard output is one when a code is shown.
    package static func look() -> [Finding] {
        judge(
            size: TerminalSize(of: STDOUT_FILENO), type: Environment["TERM"],
            locale: ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { Environment[$0] }.first { !$0.isEmpty })
    }

    /// - Parameters:
    ///   - size: nil: there is no terminal.
    ///   - locale: `LC_ALL`, else `LC_CTYPE`, else `LANG`.
    package static func judge(size: TerminalSize?, type: String?, locale: String?) -> [Finding] {
        guard let size else { return [.ok("No terminal here: codes are written with --png FILE or --text.")] }
        var findings: [Finding] = []
        let name = (locale ?? "").uppercased()
        if !name.contains("UTF-8"), !name.contains("UTF8") {
            findings.append(
                .warning(
                    "The terminal's language (\(locale ?? "none")) is not UTF-8: the code is drawn of characters that it may not have.",
                    "export LC_ALL=C.UTF-8"))
        }
        if (type ?? "dumb") == "dumb" {
            findings.append(
                .warning("TERM is \(type ?? "not set"): nothing can be drawn in place.", "export TERM=xterm-256color"))
        }
        if size.columns < least.columns || size.rows < least.rows {
            findings.append(
                .warning(
                    "The terminal has \(size.columns)x\(size.rows) cells; a code needs about \(least.columns)x\(least.rows). Enlarge it, use a smaller font, or:",
                    "gantry-studio pair --png code.png"))
        }
        return findings.isEmpty
            ? [.ok("The terminal (\(size.columns)x\(size.rows), UTF-8) can show a code.")] : findings
    }
}
