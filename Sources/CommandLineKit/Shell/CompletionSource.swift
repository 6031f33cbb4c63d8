/// What a shell can offer for a value or an argument.
package enum CompletionSource: Sendable, Hashable {
    case files
    case folders
    case words([String])
    /// The tool's commands.
    case commands
    /// The other ends that are paired, by name.
    case pairedDevices
    /// Cameras, by path.
    case cameras
    /// Microphones, by name.
    case microphones

    /// By the convention of the tables: FILE is the path of a file, DIR and FOLDER that of a folder.
    static func usual(for placeholder: String?) -> [CompletionSource] {
        switch placeholder {
        case "FILE": [.files]
        case "DIR", "FOLDER": [.folders]
        default: []
        }
    }
}

/// A word that a shell offers.
package struct CompletionCandidate: Sendable, Hashable {
    package let word: String
    /// One line, or empty.
    package let meaning: String

    package init(_ word: String, _ meaning: String = "") {
        self.word = word
        self.meaning = meaning
    }
}

/// Lists what only the tool knows: `pairedDevices`, `cameras`, `microphones`. Gets what the line says so far. Takes some
/// tenths of a second at most, and makes no files: somebody only pressed a key.
package typealias CompletionListing = (CompletionSource, ParsedArguments) -> [CompletionCandidate]
