/// How help and manual show options.
extension Option {
    /// `-s, --size WxH`.
    var label: String {
        let value = value.map { optionalValue == nil ? " \($0)" : "[=\($0)]" } ?? ""
        return "\(names.joined(separator: ", "))\(value)"
    }

    /// `-s` and `--size`.
    var names: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(name)"] }

    /// The whole description.
    var text: String {
        var text = help
        if !allowed.isEmpty { text += " One of: \(allowed.joined(separator: ", "))." }
        if isRepeatable { text += " May be given more than once." }
        return text
    }

    /// The options of the last command of `path` by heading, in the order of the tables; those of the commands above come
    /// behind the own ones.
    static func groups(of path: [Command]) -> [(title: String, options: [Option])] {
        var groups: [(title: String, options: [Option])] = [("Options", [])]
        for option in path.reversed().flatMap(\.options) {
            let title = option.group ?? "Options"
            if let index = groups.firstIndex(where: { $0.title == title }) {
                groups[index].options.append(option)
            } else {
                groups.append((title, [option]))
            }
        }
        groups.append(("General", [.help, .version]))
        return groups
    }
}

extension Command {
    /// What may follow the command's name.
    var usageForms: [String] {
        guard usage.isEmpty else { return usage }
        var words: [String] = []
        if !visibleSubcommands.isEmpty { words.append("COMMAND") }
        for positional in positionals {
            let shown = positional.name + (positional.isRepeatable ? "…" : "")
            words.append(positional.isRequired ? shown : "[\(shown)]")
        }
        words.append("[options]")
        return [words.joined(separator: " ")]
    }
}
