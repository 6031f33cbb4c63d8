/// An argument that is known by its place.
package struct Positional: Sendable, Hashable {
    /// As help shows it: `HOST:PORT`.
    package let name: String
    package let help: String
    package let isRequired: Bool
    /// Takes all that follows; only sensible for the last one.
    package let isRepeatable: Bool
    /// The option that means the same: a configuration file's value for it does not count when this is given.
    package let option: String?
    /// What shells offer for it.
    package let completion: [CompletionSource]

    package init(
        _ name: String, help: String, isRequired: Bool = true, isRepeatable: Bool = false, option: String? = nil,
        completion: [CompletionSource]? = nil
    ) {
        self.name = name
        self.help = help
        self.isRequired = isRequired
        self.isRepeatable = isRepeatable
        self.option = option
        self.completion = completion ?? CompletionSource.usual(for: name)
    }
}
