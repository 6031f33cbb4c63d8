/// An argument that is known by its place.
package struct Positional: Sendable, Hashable {
    /// As help shows it: `HOST:PORT`.
    package let name: String
    package let help: String
    package let isRequired: Bool
    /// Takes all that follows; only sensible for the last one.
    package let isRepeatable: Bool

    package init(_ name: String, help: String, isRequired: Bool = true, isRepeatable: Bool = false) {
        self.name = name
        self.help = help
        self.isRequired = isRequired
        self.isRepeatable = isRepeatable
    }
}
