/// What a tool or one of its subcommands understands, as a table.
package struct Command: Sendable, Hashable {
    /// A whole command line and what it does.
    package struct Example: Sendable, Hashable {
        package let line: String
        package let meaning: String

        package init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    /// The word that is typed.
    package let name: String
    /// One short sentence without a full stop.
    package let summary: String
    /// What follows the command's name in each usage line; empty: made from the tables.
    package let usage: [String]
    /// Options of a command are understood by its subcommands too.
    package let options: [Option]
    package let positionals: [Positional]
    package let examples: [Example]
    /// Paragraphs at the end of the help.
    package let notes: [String]
    /// With subcommands, one of them must be named, and `positionals` is not used.
    package let subcommands: [Command]
    /// Not in help, manual and completion.
    package let isHidden: Bool

    package init(
        _ name: String, summary: String, usage: [String] = [], options: [Option] = [], positionals: [Positional] = [],
        examples: [Example] = [], notes: [String] = [], subcommands: [Command] = [],
        isHidden: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.usage = usage
        self.options = options
        self.positionals = positionals
        self.examples = examples
        self.notes = notes
        self.subcommands = subcommands
        self.isHidden = isHidden
    }

    package var visibleSubcommands: [Command] { subcommands.filter { !$0.isHidden } }

    /// With more subcommands.
    func adding(_ commands: [Command]) -> Command {
        Command(
            name, summary: summary, usage: usage, options: options, positionals: positionals, examples: examples,
            notes: notes, subcommands: subcommands + commands, isHidden: isHidden)
    }
}
