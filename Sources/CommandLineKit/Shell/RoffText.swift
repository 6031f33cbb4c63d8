/// Text as roff's man(7) macros want it, for groff and mandoc alike.
enum RoffText {
    /// What is typed as it stands: every hyphen is one that can be copied.
    static func literal(_ text: String) -> String { text.map { $0 == "-" ? "\\-" : escaped($0) }.joined() }

    /// In bold.
    static func bold(_ text: String) -> String { "\\fB\(literal(text))\\fR" }

    /// In italics.
    static func italic(_ text: String) -> String { "\\fI\(literal(text))\\fR" }

    /// Lines of prose: what stands between backticks is bold, and so is an option.
    static func prose(_ text: String) -> [String] {
        var isLiteral = false
        let marked = text.split(separator: "`", omittingEmptySubsequences: false).map { part in
            defer { isLiteral.toggle() }
            return isLiteral ? bold(String(part)) : words(String(part))
        }.joined()
        return TextCells.wrapped(marked, to: 78).map(safe)
    }

    /// A line that begins with a control character would be an instruction.
    static func safe(_ line: String) -> String { line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line }

    private static func words(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            guard word.hasPrefix("--") else {
                return word.hasPrefix("-") ? literal(String(word)) : word.map(escaped).joined()
            }
            let name = word.prefix { $0 == "-" || $0.isLetter || $0.isNumber }
            return bold(String(name)) + word.dropFirst(name.count).map(escaped).joined()
        }.joined(separator: " ")
    }

    private static func escaped(_ character: Character) -> String {
        switch character {
        case "\\": "\\e"
        case "'": "\\(aq"
        case "`": "\\(ga"
        case "\"": "\\(dq"
        case "^": "\\(ha"
        case "~": "\\(ti"
        default:
            if character.isASCII {
                String(character)
            } else {
                character.unicodeScalars.map { "\\[u\(hexadecimal($0.value))]" }.joined()
            }
        }
    }

    /// Four digits at least.
    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
