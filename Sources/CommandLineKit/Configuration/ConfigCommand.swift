package import GantryCore
import GantryPlatform

/// `config [COMMAND]` and `config check [FILE]`, the same in both tools.
package struct ConfigCommand {
    package static let name = "config"

    package static func table(tool: String) -> Command {
        Command(
            name, summary: "Show which options are in force, and whence; check a configuration file",
            usage: ["[COMMAND] [options]", "check [FILE] [options]"],
            positionals: [
                Positional(
                    "COMMAND", help: "All options of this command, also those that nothing sets.", isRequired: false,
                    completion: [.commands, .words(["check"])]),
                Positional("FILE", help: "For check. Default: the file that would be used.", isRequired: false),
            ],
            examples: [
                .init("\(tool) config", "what the configuration file sets"),
                .init("\(tool) config check new.json", "says what is wrong with it, and where"),
                .init("\(tool) config --json", "a JSON line for each option"),
            ],
            notes: ["The keys of the file are the long options. See docs/configuration.md."])
    }

    private let arguments: ParsedArguments
    private let root: Command

    package init(_ arguments: ParsedArguments, _ root: Command) {
        self.arguments = arguments
        self.root = root
    }

    package func run() throws(GantryError) -> ExitStatus {
        if arguments.positional(0) == "check" { return try check() }
        if let extra = arguments.positional(1) {
            throw GantryError(.invalidArgument, "\(DisplayName(extra).text) is one word too many.")
        }
        let file = try ConfigurationFile.chosen(by: arguments, root)
        guard let name = arguments.positional(0) else {
            show(file?.entries.filter { !$0.values.isEmpty }.map { row($0) } ?? [], file)
            return .success
        }
        guard let command = root.subcommands.first(where: { $0.name == name }) else {
            let hint = Spelling.nearest(to: name, among: root.subcommands.map(\.name)).map { " Did you mean \($0)?" }
            throw GantryError(
                .invalidArgument,
                "There is no command \"\(DisplayName(name))\".\(hint ?? " See: \(root.name) --help")")
        }
        show(rows(of: command, file), file)
        return .success
    }

    private func check() throws(GantryError) -> ExitStatus {
        let path = arguments.positional(1) ?? arguments.string("config") ?? ConfigurationPlace.usual(tool: root.name)
        let file = try ConfigurationFile.named(path ?? "", root: root)
        say([
            .init("event", "checked"), .init("file", .string(file.path)),
            .init("options", .integer(Int64(file.entries.count))),
        ]) { "\(file.path) is well: \(Figures.count(file.entries.count, "option"))." }
        return .success
    }

    // MARK: What is in force

    private struct Row {
        let option: String
        /// Nil: not set.
        let value: String?
        /// The commands that it counts for.
        let commands: [String]
        let source: Source
    }

    private enum Source {
        case file(line: Int)
        case environment(String)
        case none
    }

    private func row(_ entry: ConfigurationFile.Entry) -> Row {
        let owners = root.subcommands.filter { command in
            (command.options + command.subcommands.flatMap(\.options)).contains { $0.name == entry.option.name }
        }
        let commands = entry.command.map { [$0] } ?? owners.map(\.name)
        return Row(
            option: entry.option.name, value: Self.text(entry), commands: commands, source: .file(line: entry.line))
    }

    private func rows(of command: Command, _ file: ConfigurationFile?) -> [Row] {
        let entries = file?.entries(for: [root, command]) ?? []
        return (command.options + root.options).filter { !$0.isForCommandLine }.map { option in
            if let entry = entries.first(where: { $0.option.name == option.name }), !entry.values.isEmpty {
                return Row(
                    option: option.name, value: Self.text(entry), commands: [command.name],
                    source: .file(line: entry.line))
            }
            if option.name == "state-dir", let value = Environment["GANTRY_STATE_DIR"], !value.isEmpty {
                return Row(
                    option: option.name, value: value, commands: [command.name],
                    source: .environment("GANTRY_STATE_DIR"))
            }
            return Row(option: option.name, value: nil, commands: [command.name], source: .none)
        }
    }

    private static func text(_ entry: ConfigurationFile.Entry) -> String {
        entry.values.map { $0.isEmpty ? "true" : $0 }.joined(separator: ", ")
    }

    private func show(_ rows: [Row], _ file: ConfigurationFile?) {
        let place = file?.path ?? ConfigurationPlace.usual(tool: root.name)
        if arguments.has("json") {
            for row in rows { StandardStreams.writeOutput(Self.json(row, file).text + "\n") }
            return
        }
        guard !rows.isEmpty else {
            let why =
                file == nil ? "There is no \(place ?? "configuration folder")" : "\(place ?? "The file") sets nothing"
            StandardStreams.writeOutput("\(TextCells.printable(why)): all options have their defaults.\n")
            return
        }
        var table = Table(["OPTION", "VALUE", "FOR", "FROM"])
        for row in rows {
            let source =
                switch row.source {
                case .file(let line): "\(place ?? ""):\(line)"
                case .environment(let name): "$\(name)"
                case .none: "-"
                }
            let whom = row.commands.isEmpty ? "all" : row.commands.joined(separator: " ")
            table.add([row.option, row.value ?? "default", whom, source])
        }
        StandardStreams.writeOutput(table.text)
    }

    private static func json(_ row: Row, _ file: ConfigurationFile?) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("option", .string(row.option)), .init("value", .optional(row.value)),
            .init("commands", .array(row.commands.map(JSONValue.string))),
        ]
        switch row.source {
        case .file(let line):
            members += [
                .init("from", "file"), .init("file", .optional(file?.path)), .init("line", .integer(Int64(line))),
            ]
        case .environment(let name): members += [.init("from", "environment"), .init("variable", .string(name))]
        case .none: members.append(.init("from", "default"))
        }
        return .object(members)
    }

    private func say(_ event: [JSONValue.Member], _ text: () -> String) {
        let line = arguments.has("json") ? JSONValue.object(event).text : TextCells.printable(text())
        StandardStreams.writeOutput(line + "\n")
    }
}
