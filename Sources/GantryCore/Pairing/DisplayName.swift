/// A peer's text made fit for a terminal, a log or a window. The one way from the wire to a person's eyes.
///
/// Control, format (so also bidirectional), surrogate, private and unassigned characters, line and paragraph separators,
/// invisible characters (Default_Ignorable_Code_Point) and replacements of invalid UTF-8 are dropped; other spaces become
/// U+0020; spaces at the ends go. At most 32 graphemes and 64 bytes; never empty.
public struct DisplayName: Hashable, Sendable, CustomStringConvertible {
    /// Safe to print.
    public let text: String

    /// Characters as people count them.
    public static let maximumGraphemes = 32
    /// Of UTF-8.
    public static let maximumBytes = 64
    /// Stands where nothing is left.
    public static let fallback = "unnamed"

    /// Whatever is not fit for showing is taken out; what is too long is cut.
    public init(_ raw: String) {
        let clean = Self.sanitized(raw, graphemes: Self.maximumGraphemes, bytes: Self.maximumBytes)
        text = clean.isEmpty ? Self.fallback : clean
    }

    /// From UTF-8 that may be invalid.
    public init(utf8 bytes: some Collection<UInt8>) { self.init(String(decoding: bytes, as: UTF8.self)) }

    public var description: String { text }

    /// Whether something of `text` can be seen, and nothing of that would be cut.
    package static func fits(_ text: String) -> Bool {
        let clean = sanitized(text, graphemes: maximumGraphemes + 1, bytes: .max)
        return !clean.isEmpty && clean.count <= maximumGraphemes && clean.utf8.count <= maximumBytes
    }

    /// - Throws: `invalidArgument` for a name that does not fit; nil does.
    package static func check(_ name: String?) throws(GantryError) {
        guard let name, !fits(name) else { return }
        throw GantryError(
            .invalidArgument, "\"\(DisplayName(name))\" cannot be the name. It takes \(ValueForm.displayName.expected)."
        )
    }

    /// The same rules with other limits; may be empty.
    package static func sanitized(_ raw: String, graphemes: Int, bytes: Int) -> String {
        var kept = String.UnicodeScalarView()
        var size = 0
        for scalar in raw.unicodeScalars {
            guard let scalar = shown(scalar) else { continue }
            if kept.isEmpty, scalar == " " { continue }
            size += UTF8.width(scalar)
            // A grapheme that goes over the limit is dropped whole below: let its start in.
            kept.append(scalar)
            if size > bytes { break }
        }
        var result = ""
        var count = 0
        var used = 0
        for character in String(kept) {
            count += 1
            used += character.utf8.count
            if count > graphemes || used > bytes { break }
            result.append(character)
        }
        while result.last == " " { result.removeLast() }
        return result
    }

    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if scalar.value < 0x7f { return scalar.value >= 0x20 ? scalar : nil }
        if scalar == "\u{FFFD}" || scalar.properties.isDefaultIgnorableCodePoint { return nil }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return nil
        case .spaceSeparator: return " "
        default: return scalar
        }
    }
}
