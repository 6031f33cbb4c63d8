import GantryCore

/// `completion`, `complete` and `manual`: what a package needs of a tool, made from the tables of its commands.
struct ShellCommand {
    /// Not shown: whoever installs the tool calls them, and its shell does.
    static func tables(tool: String) -> [Command] {
        [
            Command(
                "completion", summary: "Write the completion of commands and options for a shell",
                positionals: [Positional("SHELL", help: "bash, zsh or fish.", completion: [.words(shells)])],
                examples: [
                    .init("source <(\(tool) completion bash)", "for this shell"),
                    .init("\(tool) completion fish > ~/.config/fish/completions/\(tool).fish", "for every later one"),
                ], isHidden: true),
            Command(
                "complete", summary: "Answer a shell that completes a command line",
                positionals: [
                    Positional(
                        "WORD", help: "Behind --: the words before the cursor; the last one is incomplete.",
                        isRequired: false, isRepeatable: true)
                ], isHidden: true),
            Command(
                "manual", summary: "Write the manual page",
                examples: [.init("\(tool) manual | man -l -", "read it")], isHidden: true),
        ]
    }

    private static let shells = ["bash", "zsh", "fish"]

    private let arguments: ParsedArguments
    private let root: Command

    /// Nil when the command is another one.
    ///
    /// - Parameter root: without the commands of `tables`.
    init?(_ arguments: ParsedArguments, _ root: Command) {
        let name = arguments.commandNames.first
        guard Self.tables(tool: root.name).contains(where: { $0.name == name }) else { return nil }
        self.arguments = arguments
        self.root = root
    }

    /// What is to be written.
    func text(_ list: @escaping CompletionListing) throws(GantryError) -> String {
        switch arguments.commandNames.first {
        case "completion": return try script()
        case "complete":
            let words = arguments.positionals
            return CommandCompletion(root, before: words.dropLast(), current: words.last ?? "", list: list).text
        default: return ManualPage(root, date: ManualPage.today()).text
        }
    }

    private func script() throws(GantryError) -> String {
        switch arguments.positional(0) {
        case "bash": return CompletionScript.bash(root.name)
        case "zsh": return CompletionScript.zsh(root.name)
        case "fish": return CompletionScript.fish(root.name)
        default:
            throw GantryError(
                .invalidArgument, "There is completion for \(Self.shells.joined(separator: ", ")), and no other shell.")
        }
    }
}
