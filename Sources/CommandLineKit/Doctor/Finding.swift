package import GantryCore

/// What a check of `doctor` has found.
package struct Finding: Sendable, Hashable {
    package enum Level: String, Sendable, Hashable, CaseIterable {
        case ok, warning, problem
    }

    package let level: Level
    /// One sentence or two. May hold names that others have chosen, made fit for showing.
    package let text: String
    /// The command that mends it, or nil.
    package let remedy: String?

    package init(_ level: Level, _ text: String, remedy: String? = nil) {
        self.level = level
        self.text = text
        self.remedy = remedy
    }

    package static func ok(_ text: String) -> Finding { Finding(.ok, text) }
    package static func warning(_ text: String, _ remedy: String? = nil) -> Finding {
        Finding(.warning, text, remedy: remedy)
    }
    package static func problem(_ text: String, _ remedy: String? = nil) -> Finding {
        Finding(.problem, text, remedy: remedy)
    }
    /// An error says itself what mends it.
    package static func problem(_ error: GantryError) -> Finding { Finding(.problem, error.description) }
}
