/// One row of a command's option table. Parsing, help text, man page and completion are all made from it.
package struct Option: Sendable, Hashable {
    /// Long name without the dashes.
    package let name: String
    package let short: Character?
    /// What stands for the value in help (`FILE`), or nil for a flag.
    package let value: String?
    package let help: String
    /// The heading in help, for example "Picture". Options without one come first.
    package let group: String?
    /// The only values that are taken; empty when any will do.
    package let allowed: [String]
    /// May be given more than once.
    package let isRepeatable: Bool
    /// Not nil: the value may be left out, and is then "". The word behind such an option is its value only when it
    /// begins with one of these, so that it is not mistaken for a positional; `--name=VALUE` takes any.
    package let optionalValue: [String]?

    package init(
        _ name: String, short: Character? = nil, value: String? = nil, help: String, group: String? = nil,
        allowed: [String] = [], isRepeatable: Bool = false,
        optionalValue: [String]? = nil
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.help = help
        self.group = group
        self.allowed = allowed
        self.isRepeatable = isRepeatable
        self.optionalValue = optionalValue
    }

    package var takesValue: Bool { value != nil }

    /// Understood by every command.
    static let help = Option("help", short: "h", help: "Show this help.")
    /// Understood by every command.
    static let version = Option("version", help: "Show the version.")
}
