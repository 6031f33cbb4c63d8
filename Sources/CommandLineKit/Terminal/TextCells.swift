/// How many cells of a terminal a text takes, and how to cut and wrap it there.
///
/// The width of a character follows Unicode's East Asian Width and emoji presentation (UAX #11, UTS #51), the way
/// terminals of today draw it.
package enum TextCells {
    /// 0 (combining, format, control), 1 or 2.
    package static func width(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        // U+FE0F asks for the colourful form; two regional indicators make a flag.
        if scalars.count > 1, scalars.contains("\u{FE0F}") || isRegionalIndicator(first) { return 2 }
        return width(first)
    }

    package static func width(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 &+ width($1) } }

    /// At most `limit` cells of `text`; what does not fit is replaced by an ellipsis.
    package static func truncated(_ text: String, to limit: Int) -> String {
        guard width(text) > limit else { return text }
        guard limit > 0 else { return "" }
        var result = ""
        var used = 0
        for character in text {
            let next = width(character)
            if used + next > limit - 1 { break }
            used += next
            result.append(character)
        }
        return result + "…"
    }

    /// With blanks behind (or, `right`, before) it to fill `cells`.
    package static func padded(_ text: String, to cells: Int, right: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, cells - width(text)))
        return right ? blanks + text : text + blanks
    }

    /// Lines of at most `limit` cells, broken at blanks; a longer word stands on a line of its own, whole.
    package static func wrapped(_ text: String, to limit: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty && width(line) + 1 + width(word) > limit {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    /// For text from outside: what could move the cursor or turn the direction of text becomes "?", and the length
    /// is limited to `limit` cells.
    package static func printable(_ text: String, limit: Int = .max) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit == .max ? .max : limit &* 8) {
            switch scalar.properties.generalCategory {
            case .control, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                result.append("?")
            case .format where scalar != "\u{200D}": result.append("?")
            default: result.append(scalar)
            }
        }
        return truncated(String(result), to: limit)
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool { 0x1F1E6...0x1F1FF ~= scalar.value }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if 0x20..<0x7F ~= scalar.value { return 1 }
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        // Wide and fullwidth blocks of EastAsianWidth.txt.
        switch scalar.value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
            0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
