import GantryCore

/// The state of one walk along the words of a command line.
struct CommandLineWalk {
    private(set) var path: [Command]
    private(set) var wantsHelp = false
    private(set) var wantsVersion = false
    private(set) var onlyPositionals = false
    /// The option at the end of the line whose value is missing, or was left out where it may be.
    private(set) var waiting: Option?
    private var words: ArraySlice<String>
    private var values: [String: [String]] = [:]
    private var positionals: [String] = []

    init(root: Command, words: [String]) {
        path = [root]
        self.words = words[...]
    }

    private var command: Command { path[path.count - 1] }

    mutating func run() throws(GantryError) {
        while let word = words.popFirst() {
            if onlyPositionals || word == "-" || !word.hasPrefix("-") {
                try takePlain(word)
            } else if word == "--" {
                onlyPositionals = true
            } else if word.hasPrefix("--") {
                try takeLong(word.dropFirst(2))
            } else {
                try takeShort(word.dropFirst())
            }
            // Help wins over every fault that comes later in the line.
            if wantsHelp { return }
        }
    }

    /// Checks what is only known at the end.
    func finish() throws(GantryError) -> ParsedArguments {
        guard command.subcommands.isEmpty else {
            let names = command.visibleSubcommands.map(\.name).joined(separator: ", ")
            throw usageError("Which command? One of: \(names).")
        }
        let required = command.positionals.filter(\.isRequired)
        if positionals.count < required.count {
            throw usageError("\(required[positionals.count].name) is missing.")
        }
        return arguments
    }

    /// What was read so far.
    var arguments: ParsedArguments { ParsedArguments(path: path, values: values, positionals: positionals) }

    func has(_ option: Option) -> Bool { values[option.name] != nil }

    private mutating func takePlain(_ word: String) throws(GantryError) {
        guard command.subcommands.isEmpty else {
            guard let next = command.subcommands.first(where: { $0.name == word }) else {
                throw usageError(
                    "There is no command \(quoted(word))." + suggestion(word, among: command.subcommands.map(\.name)))
            }
            path.append(next)
            return
        }
        let room = command.positionals.last?.isRepeatable == true ? Int.max : command.positionals.count
        guard positionals.count < room else {
            throw usageError("\(quoted(word)) is one argument too many.")
        }
        positionals.append(word)
    }

    private mutating func takeLong(_ text: Substring) throws(GantryError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        let attached = parts.count == 2 ? String(parts[1]) : nil
        guard let option = option(where: { $0.name == name }) else {
            throw usageError(
                "There is no option \(quoted("--" + name))."
                    + suggestion(name, among: availableOptions.map(\.name), prefix: "--"))
        }
        try take(option, as: "--\(name)", attached: attached)
    }

    private mutating func takeShort(_ text: Substring) throws(GantryError) {
        var rest = text
        while let letter = rest.popFirst() {
            guard let option = option(where: { $0.short == letter }) else {
                throw usageError("There is no option \(quoted("-\(letter)")).")
            }
            guard option.takesValue else {
                try take(option, as: "-\(letter)", attached: nil)
                continue
            }
            if rest.first == "=" { rest.removeFirst() }
            return try take(option, as: "-\(letter)", attached: rest.isEmpty ? nil : String(rest))
        }
    }

    private mutating func take(_ option: Option, as shown: String, attached: String?) throws(GantryError) {
        if option == .help { wantsHelp = true }
        if option == .version { wantsVersion = true }
        if !option.isRepeatable && option.takesValue && values[option.name] != nil {
            throw usageError("\(shown) is given twice. Give it once.")
        }
        guard let placeholder = option.value else {
            guard attached == nil else { throw usageError("\(shown) takes no value.") }
            values[option.name, default: []].append("")
            return
        }
        if attached == nil, words.isEmpty { waiting = option }
        guard let value = attached ?? nextValue(of: option) else {
            throw usageError("\(shown) needs a value: \(shown) \(placeholder).")
        }
        guard option.allowed.isEmpty || option.allowed.contains(value) else {
            throw usageError(
                "\(shown) cannot be \(quoted(value)). It takes: \(option.allowed.joined(separator: ", "))."
                    + suggestion(value, among: option.allowed))
        }
        values[option.name, default: []].append(value)
    }

    /// The next word, unless it looks like an option. A negative number and `-` are values.
    ///
    /// A value that may be left out must look like one, and is "" otherwise.
    private mutating func nextValue(of option: Option) -> String? {
        if let beginnings = option.optionalValue {
            guard let word = words.first, beginnings.contains(where: { word.hasPrefix($0) }) else { return "" }
            return words.popFirst()
        }
        guard let word = words.first else { return nil }
        if word.hasPrefix("-") && word != "-" {
            guard let second = word.dropFirst().first, second.isASCII, second.isNumber || second == "." else {
                return nil
            }
        }
        return words.popFirst()
    }

    var availableOptions: [Option] { path.reversed().flatMap(\.options) + [.help, .version] }

    private func option(where matches: (Option) -> Bool) -> Option? { availableOptions.first(where: matches) }

    private func suggestion(_ word: String, among names: [String], prefix: String = "") -> String {
        guard let nearest = Spelling.nearest(to: word, among: names) else { return "" }
        return " Did you mean \(prefix)\(nearest)?"
    }

    private func quoted(_ word: String) -> String { "\"\(TextCells.printable(word, limit: 60))\"" }

    private func usageError(_ message: String) -> GantryError {
        let name = path.map(\.name).joined(separator: " ")
        return GantryError(.invalidArgument, "\(message) See: \(name) --help")
    }
}
