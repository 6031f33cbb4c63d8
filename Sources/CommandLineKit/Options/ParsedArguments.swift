package import GantryCore

/// What was on the command line, by name. Getters turn text into values, and name the option in their errors.
///
/// All errors are `invalidArgument` (exit status 2).
package struct ParsedArguments: Sendable {
    /// The commands from the tool down to the one to run.
    package let path: [Command]
    package let positionals: [String]
    private var values: [String: [String]]
    /// What a configuration file has set, by option.
    package private(set) var configured: [String: ConfigurationFile.Entry] = [:]
    /// The file that was looked at; nil: none.
    package private(set) var configurationPath: String?

    init(path: [Command], values: [String: [String]], positionals: [String]) {
        self.path = path
        self.values = values
        self.positionals = positionals
    }

    /// The names below the tool's own, for example `["devices", "list"]`.
    package var commandNames: [String] { path.dropFirst().map(\.name) }

    /// The positional at `index`, or nil when it was not given.
    package func positional(_ index: Int) -> String? {
        positionals.indices.contains(index) ? positionals[index] : nil
    }

    package func has(_ name: String) -> Bool { count(name) > 0 }

    /// Whether the option stands on the command line itself. For complaints about what is of no use: a configuration file
    /// sets options for several commands.
    package func isTyped(_ name: String) -> Bool { has(name) && configured[name] == nil }

    /// With what `file` sets and the command line does not.
    package func adding(_ file: ConfigurationFile) -> ParsedArguments {
        var result = self
        result.configurationPath = file.path
        let given = zip(path.last?.positionals ?? [], positionals).compactMap(\.0.option)
        for entry in file.entries(for: path) where !entry.values.isEmpty {
            let name = entry.option.name
            guard values[name] == nil, !given.contains(name) else { continue }
            result.values[name] = entry.values
            result.configured[name] = entry
        }
        return result
    }

    /// `error` in the words of the command line: with the option that mends it, and where options that it names come from, if that
    /// is a configuration file.
    package func locating(_ error: GantryError) -> GantryError {
        if error.code == .portInUse, isDeclared("port"), !error.message.contains("--") {
            let remedy = ", or take another port"
            let message =
                error.message.hasSuffix(remedy + ".")
                ? error.message.dropLast() + ": --port NUMBER" : error.message + " Another one: --port NUMBER"
            return GantryError(error.code, String(message), cause: error.cause)
        }
        guard error.code == .invalidArgument, let file = configurationPath else { return error }
        let words = Set(
            error.message.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
        let places = configured.filter { words.contains("--" + $0.key) }.sorted { $0.key < $1.key }
            .map { "--\($0.key) is set in \(TextCells.printable(file)), line \($0.value.line)." }
        return GantryError(error.code, ([error.message] + places).joined(separator: " "), cause: error.cause)
    }

    /// How often the option was given.
    package func count(_ name: String) -> Int {
        assert(isDeclared(name), "--\(name) is in no table")
        return values[name]?.count ?? 0
    }

    package func string(_ name: String) -> String? { strings(name).first }

    package func strings(_ name: String) -> [String] {
        assert(isDeclared(name), "--\(name) is in no table")
        return values[name] ?? []
    }

    /// A whole number in decimal.
    package func int(_ name: String, in range: ClosedRange<Int>) throws(GantryError) -> Int? {
        try value(name, .integer(range)) { Decimal.integer($0) }
    }

    /// A picture size such as `1280x720`.
    package func size(_ name: String, sides: ClosedRange<Int> = 16...8192) throws(GantryError) -> PixelSize? {
        try value(name, .size(sides)) { PixelSize($0) }
    }

    /// Frames a second such as `30`, `29.97` (taken as 30000/1001) or `30000/1001`.
    package func rate(_ name: String) throws(GantryError) -> FrameRate? {
        try value(name, .frameRate) { FrameRate(text: $0) }
    }

    /// Bits a second such as `6M`, `800k`, `2.5M`, `500000`.
    package func bitrate(_ name: String, in range: ClosedRange<Int>) throws(GantryError) -> Int? {
        try value(name, .bitrate(range)) { Bitrate.parse($0) }
    }

    /// A span of time such as `10`, `10s`, `1.5s`, `1m30s`, `2h`, `500ms`; more than zero, or in `range`.
    package func duration(
        _ name: String, in range: ClosedRange<MediaDuration>? = nil
    ) throws(GantryError) -> MediaDuration? {
        try value(name, range.map(ValueForm.duration) ?? .anyDuration) { MediaDuration(text: $0) }
    }

    /// A name that others show.
    package func displayName(_ name: String) throws(GantryError) -> String? {
        try value(name, .displayName) { $0 }
    }

    /// A port number. Zero means "any free port", where `allowsAny` says so.
    package func port(_ name: String, allowsAny: Bool = false) throws(GantryError) -> UInt16? {
        try value(name, .port(allowsAny: allowsAny)) { UInt16($0) }
    }

    private func value<Value>(
        _ name: String, _ form: ValueForm, parse: (String) -> Value?
    ) throws(GantryError) -> Value? {
        try value(name, form.expected) { form.accepts($0) ? parse($0) : nil }
    }

    /// Runs `parse` over the option's text. For values that have no getter here.
    ///
    /// - Parameter expected: what the option takes, in the words of the error.
    package func value<Value>(
        _ name: String, _ expected: String, parse: (String) -> Value?
    ) throws(GantryError) -> Value? {
        guard let text = string(name) else { return nil }
        if let value = parse(text) { return value }
        let shown = TextCells.printable(text, limit: 60)
        throw GantryError(.invalidArgument, "--\(name) cannot be \"\(shown)\". It takes \(expected).")
    }

    private func isDeclared(_ name: String) -> Bool {
        path.contains { $0.options.contains { $0.name == name } }
    }
}
