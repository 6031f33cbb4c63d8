import GantryCore

/// What can follow on a command line that is being typed. By the same tables, and the same walk, as parsing.
struct CommandCompletion {
    /// Which paths the shell offers beside the candidates.
    enum Paths: String {
        case none, files, folders
    }

    let root: Command
    let list: CompletionListing

    private(set) var candidates: [CompletionCandidate] = []
    private(set) var paths = Paths.none

    /// - Parameters:
    ///   - words: those before the one that is typed, without the program's own name.
    ///   - current: the beginning of that one.
    init(_ root: Command, before words: [String], current: String, list: @escaping CompletionListing) {
        self.root = root
        self.list = list
        var walk = CommandLineWalk(root: root, words: words)
        do throws(GantryError) {
            try walk.run()
        } catch {
            // A wrong line cannot be gone on with, except by the value that it lacks.
            if let option = walk.waiting { offer(option.completion, walk, beginning: current) }
            return
        }
        guard !walk.wantsHelp, !walk.wantsVersion else { return }
        if !walk.onlyPositionals, current.hasPrefix("-"), current != "-" || !offersDash(walk) {
            offerOptions(walk, current)
            return
        }
        if let option = walk.waiting { offer(option.completion, walk, beginning: current) }
        offerArgument(walk, current)
        if current.isEmpty, candidates.isEmpty, paths == .none, !walk.onlyPositionals { offerOptions(walk, "--") }
    }

    private mutating func offerOptions(_ walk: CommandLineWalk, _ current: String) {
        let parts = current.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, let name = parts.first {
            let option = walk.availableOptions.first { "--\($0.name)" == name && $0.takesValue }
            return offer(option?.completion ?? [], walk, beginning: String(parts[1]), behind: "\(name)=")
        }
        for option in walk.availableOptions where "--\(option.name)".hasPrefix(current) {
            guard option.isRepeatable || !walk.has(option) else { continue }
            add("--\(option.name)", Self.firstSentence(option.help))
        }
    }

    private mutating func offerArgument(_ walk: CommandLineWalk, _ current: String) {
        let command = walk.path[walk.path.count - 1]
        guard command.subcommands.isEmpty else { return offerCommands(of: command, current) }
        guard let positional = Self.next(walk) else { return }
        offer(positional.completion, walk, beginning: current)
    }

    private mutating func offerCommands(of command: Command, _ beginning: String) {
        for next in command.visibleSubcommands where next.name.hasPrefix(beginning) { add(next.name, next.summary) }
    }

    /// Whether "-" alone is a value here, and not the beginning of an option.
    private func offersDash(_ walk: CommandLineWalk) -> Bool {
        (walk.waiting?.completion ?? Self.next(walk)?.completion ?? []).contains {
            if case .words(let words) = $0 { words.contains("-") } else { false }
        }
    }

    /// The argument that comes next.
    private static func next(_ walk: CommandLineWalk) -> Positional? {
        let all = walk.path[walk.path.count - 1].positionals
        let count = walk.arguments.positionals.count
        if count < all.count { return all[count] }
        return all.last?.isRepeatable == true ? all.last : nil
    }

    private mutating func offer(
        _ sources: [CompletionSource], _ walk: CommandLineWalk, beginning: String, behind prefix: String = ""
    ) {
        for source in sources {
            switch source {
            case .files: paths = .files
            case .folders: paths = .folders
            case .commands: offerCommands(of: root, beginning)
            case .words(let words):
                for word in words where word.hasPrefix(beginning) { add(prefix + word) }
            case .pairedDevices, .cameras, .microphones:
                for entry in list(source, walk.arguments) where entry.word.hasPrefix(beginning) {
                    add(prefix + entry.word, entry.meaning)
                }
            }
        }
    }

    /// Names come from other machines: no shell is shown what could move its cursor, and no line holds two.
    private mutating func add(_ word: String, _ meaning: String = "") {
        guard TextCells.printable(word) == word, !candidates.contains(where: { $0.word == word }) else { return }
        candidates.append(.init(word, TextCells.printable(meaning)))
    }

    /// Of a help text; without the full stop, as the summaries are.
    private static func firstSentence(_ text: String) -> String {
        var words: [Substring] = []
        for word in text.split(separator: " ") {
            guard let last = word.last, last == "." || last == ":" || last == ";" else {
                words.append(word)
                continue
            }
            words.append(word.dropLast())
            break
        }
        return words.joined(separator: " ")
    }

    /// As the scripts of the shells read it: which paths, then a line for each candidate, a tab before its meaning.
    var text: String {
        candidates.reduce(into: "\(paths.rawValue)\n") { text, candidate in
            text += candidate.word + (candidate.meaning.isEmpty ? "" : "\t\(candidate.meaning)") + "\n"
        }
    }
}
