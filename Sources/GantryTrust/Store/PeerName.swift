/// The one seam through which names of peers and of users come into the store.
///
/// `DisplayName` of GantryCore belongs here; until it is there, this does the part of it that keeps terminals safe.
enum PeerName {
    static let maximumBytes = 64
    static let maximumCharacters = 32

    /// `text` without anything that could steer a terminal, cut to the length of a name, never empty.
    static func cleaned(_ text: String) -> String {
        var name = ""
        for character in text {
            let kept = String(String.UnicodeScalarView(character.unicodeScalars.filter(isVisible)))
            if kept.isEmpty { continue }
            guard name.count < maximumCharacters, name.utf8.count + kept.utf8.count <= maximumBytes else { break }
            name += kept
        }
        while let last = name.last, last.isWhitespace { name.removeLast() }
        while let first = name.first, first.isWhitespace { name.removeFirst() }
        return name.isEmpty ? "unnamed" : name
    }

    /// Whether nothing of `text` could be seen.
    static func isBlank(_ text: String) -> Bool {
        !text.contains { !$0.isWhitespace && $0.unicodeScalars.contains(where: isVisible) }
    }

    /// "NAME (2)", with NAME cut so that the whole fits.
    static func numbered(_ name: String, _ number: Int) -> String {
        let suffix = " (\(number))"
        var base = name
        while base.count + suffix.count > maximumCharacters || base.utf8.count + suffix.utf8.count > maximumBytes {
            base.removeLast()
        }
        return base + suffix
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
