import GantryCore

/// The names of peers and of users on their way into the store.
enum PeerName {
    static let maximumBytes = 64
    static let maximumCharacters = 32

    /// `text` without anything that could steer a terminal, cut to the length of a name, never empty.
    static func cleaned(_ text: String) -> String { DisplayName(text).text }

    /// Whether nothing of `text` could be seen.
    static func isBlank(_ text: String) -> Bool {
        DisplayName.sanitized(text, graphemes: maximumCharacters, bytes: maximumBytes).isEmpty
    }

    /// "NAME (2)", with NAME cut so that the whole fits.
    static func numbered(_ name: String, _ number: Int) -> String {
        let suffix = " (\(number))"
        var base = name
        while !base.isEmpty,
            base.count + suffix.count > maximumCharacters || base.utf8.count + suffix.utf8.count > maximumBytes
        {
            base.removeLast()
        }
        return base + suffix
    }
}
