import GantryCore

/// Turns the JSON of a configuration file into options, by the tables of a tool.
struct ConfigurationReader {
    let text: JSONText
    let path: String
    let root: Command

    func entries() throws(GantryError) -> [ConfigurationFile.Entry] {
        guard let members = text.value.members else {
            throw fault([], "A configuration is a JSON object, as in {\"name\": \"Desk\"}.")
        }
        var entries: [ConfigurationFile.Entry] = []
        for member in members {
            guard let inner = member.value.members else {
                entries.append(try entry(member, command: nil))
                continue
            }
            guard let command = root.subcommands.first(where: { $0.name == member.name }) else {
                throw fault(
                    [member.name],
                    "There is no command \(quoted(member.name))."
                        + suggestion(member.name, among: root.subcommands.map(\.name)))
            }
            for member in inner { entries.append(try entry(member, command: command)) }
        }
        return entries
    }

    private func entry(_ member: JSONValue.Member, command: Command?) throws(GantryError) -> ConfigurationFile.Entry {
        let place = (command.map { [$0.name] } ?? []) + [member.name]
        // The value must suit every command that it is for: options of one name may differ.
        let options = Self.options(of: command, in: root).filter { $0.name == member.name }
        guard let option = options.first else { throw unknown(member.name, command, place) }
        guard !option.isForCommandLine else {
            throw fault(place, "\(quoted(member.name)) is for the command line only. Take it out.")
        }
        var values: [String] = []
        for option in options { values = try self.values(member, option, place) }
        return .init(option: option, command: command?.name, values: values, line: text.line(of: place))
    }

    /// The options that a key may name; for nil those of all commands.
    private static func options(of command: Command?, in root: Command) -> [Option] {
        func all(_ command: Command) -> [Option] { command.options + command.subcommands.flatMap(all) }
        let general: [Option] = [.help, .version]
        guard let command else { return all(root) + general }
        return root.options + all(command) + general
    }

    private func values(
        _ member: JSONValue.Member, _ option: Option, _ place: [String]
    ) throws(GantryError) -> [String] {
        switch member.value {
        case .null: return []
        case .bool(let isOn):
            guard !option.takesValue || option.optionalValue != nil else { break }
            return isOn ? [""] : []
        case .array(let values) where option.isRepeatable:
            var texts: [String] = []
            for value in values {
                guard let text = Self.text(value), option.accepts(text) else { throw refused(option, value, place) }
                texts.append(text)
            }
            return texts
        default:
            guard option.takesValue, let text = Self.text(member.value), option.accepts(text) else { break }
            return [text]
        }
        throw refused(option, member.value, place)
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        default: nil
        }
    }

    // MARK: Errors

    private func refused(_ option: Option, _ value: JSONValue, _ place: [String]) -> GantryError {
        let shown = TextCells.printable(Self.text(value) ?? value.text, limit: 60)
        var taken = option.takesValue ? option.expected : "true or false"
        if option.optionalValue != nil { taken += ", or true" }
        if option.isRepeatable { taken += ", or an array of such" }
        return fault(place, "\(option.name) cannot be \"\(shown)\". It takes \(taken).")
    }

    private func unknown(_ name: String, _ command: Command?, _ place: [String]) -> GantryError {
        let names = Self.options(of: command, in: root).filter { !$0.isForCommandLine }.map(\.name)
        let whose = command.map { " of \(root.name) \($0.name)" } ?? ""
        return fault(place, "There is no option \(quoted(name))\(whose).\(suggestion(name, among: names))")
    }

    private func suggestion(_ word: String, among names: [String]) -> String {
        guard let nearest = Spelling.nearest(to: word, among: names) else {
            return " See: \(root.name) --help"
        }
        return " Did you mean \(nearest)?"
    }

    private func quoted(_ word: String) -> String { "\"\(TextCells.printable(word, limit: 60))\"" }

    private func fault(_ place: [String], _ message: String) -> GantryError {
        GantryError(.invalidArgument, "\(TextCells.printable(path)):\(text.line(of: place)): \(message)")
    }
}
