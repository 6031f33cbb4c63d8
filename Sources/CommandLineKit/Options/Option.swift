package import GantryCore

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
    /// What a value must look like. Checked in a configuration file; on the command line by whoever asks for the value.
    package let form: ValueForm
    /// Not for a configuration file.
    package let isForCommandLine: Bool
    /// What shells offer for a value.
    package let completion: [CompletionSource]

    package init(
        _ name: String, short: Character? = nil, value: String? = nil, help: String, group: String? = nil,
        allowed: [String] = [], isRepeatable: Bool = false,
        optionalValue: [String]? = nil, form: ValueForm = .text, isForCommandLine: Bool = false,
        completion: [CompletionSource]? = nil
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.help = help
        self.group = group
        self.allowed = allowed
        self.isRepeatable = isRepeatable
        self.optionalValue = optionalValue
        self.form = allowed.isEmpty ? form : .word(allowed)
        self.isForCommandLine = isForCommandLine
        self.completion = completion ?? (allowed.isEmpty ? CompletionSource.usual(for: value) : [.words(allowed)])
    }

    package var takesValue: Bool { value != nil }

    /// Whether a value is of the form; an empty one is where it may be left out.
    package func accepts(_ text: String) -> Bool { optionalValue != nil && text.isEmpty || form.accepts(text) }

    /// What a value is, in the words of an error.
    package var expected: String { form == .text ? value ?? "" : form.expected }

    /// Understood by every command.
    static let help = Option("help", short: "h", help: "Show this help.", isForCommandLine: true)
    /// Understood by every command.
    static let version = Option("version", help: "Show the version.", isForCommandLine: true)
}
