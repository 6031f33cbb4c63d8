package import GantryCore

/// What was on the command line, by name. Getters turn text into values, and name the option in their errors.
///
/// All errors are `invalidArgument` (exit status 2).
package struct ParsedArguments: Sendable {
    /// The commands from the tool down to the one to run.
    package let path: [Command]
    package let positionals: [String]
    private let values: [String: [String]]

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
        try value(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            Decimal.integer($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A picture size such as `1280x720`.
    package func size(_ name: String, sides: ClosedRange<Int> = 16...8192) throws(GantryError) -> PixelSize? {
        try value(name, "WIDTHxHEIGHT in pixels, each \(sides.lowerBound) to \(sides.upperBound), as in 1280x720") {
            PixelSize($0).flatMap { sides.contains($0.width) && sides.contains($0.height) ? $0 : nil }
        }
    }

    /// Frames a second such as `30`, `29.97` (taken as 30000/1001) or `30000/1001`.
    package func rate(_ name: String) throws(GantryError) -> FrameRate? {
        try value(name, "frames per second from 1/60 to 1000, as in 30, 29.97 or 30000/1001") { FrameRate(text: $0) }
    }

    /// Bits a second such as `6M`, `800k`, `2.5M`, `500000`.
    package func bitrate(_ name: String, in range: ClosedRange<Int>) throws(GantryError) -> Int? {
        let limits = "\(Bitrate.text(range.lowerBound)) to \(Bitrate.text(range.upperBound))"
        return try value(name, "bits per second from \(limits), as in 6M or 800k") {
            Bitrate.parse($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A span of time such as `10`, `10s`, `1.5s`, `1m30s`, `2h`, `500ms`; more than zero.
    package func duration(_ name: String) throws(GantryError) -> MediaDuration? {
        try value(name, "a time of more than zero and at most 1000 hours, as in 10s, 1m30s, 2h or 500ms") {
            MediaDuration(text: $0).flatMap { $0 > .zero ? $0 : nil }
        }
    }

    /// A name that others show.
    package func displayName(_ name: String) throws(GantryError) -> String? {
        try value(name, "a name with at least one character that can be seen") {
            DisplayName.sanitized($0, graphemes: 1, bytes: DisplayName.maximumBytes).isEmpty ? nil : $0
        }
    }

    /// A port number. Zero means "any free port", where `allowsAny` says so.
    package func port(_ name: String, allowsAny: Bool = false) throws(GantryError) -> UInt16? {
        let least = allowsAny ? 0 : 1
        return try value(name, "a port number from \(least) to 65535") {
            Decimal.integer($0).flatMap { $0 >= least ? UInt16(exactly: $0) : nil }
        }
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
