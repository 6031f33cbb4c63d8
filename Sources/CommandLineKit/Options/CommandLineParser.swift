package import GantryCore

/// Turns the words of a command line into `ParsedArguments`, by the tables of a `Command`.
///
/// Forms: `--name value`, `--name=value`, `--flag`, `-n value`, `-nvalue`, `-ab` (flags together), `--` (the rest is
/// positional), `-` alone is positional. `--name` alone where the value is optional. Options may stand before and after positionals and subcommands.
package struct CommandLineParser: Sendable {
    /// What the tool is to do with the command line.
    package enum Outcome: Sendable {
        case run(ParsedArguments)
        /// `--help` was given, or a command that only has subcommands stood alone: write this to standard output.
        case show(String)
    }

    private let root: Command
    private let version: String

    /// - Parameter version: what `--version` shows, for example "0.1.0".
    package init(_ root: Command, version: String) {
        self.root = root
        self.version = version
    }

    /// - Parameters:
    ///   - words: without the program's own name.
    ///   - width: of help texts, in terminal cells.
    /// - Throws: `invalidArgument` (exit status 2), with a hint where to read more.
    package func parse(_ words: [String], width: Int = 80) throws(GantryError) -> Outcome {
        var walk = CommandLineWalk(root: root, words: words)
        try walk.run()
        if walk.wantsHelp { return .show(HelpText(path: walk.path, width: width).rendered) }
        if walk.wantsVersion { return .show("\(root.name) \(version)\n") }
        return .run(try walk.finish())
    }

    /// As `parse`, with the words that the process was started with.
    package func parseProcessArguments(width: Int) throws(GantryError) -> Outcome {
        try parse(Array(CommandLine.arguments.dropFirst()), width: width)
    }
}
