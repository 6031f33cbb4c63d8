package import GantryCore

/// `--venue`, `--owner` and `--app` of both tools.
extension FieldOfUse {
    /// - Parameter meaning: what a part does, in a sentence.
    package static func options(_ meaning: (String) -> String) -> [Option] {
        Part.allCases.map {
            Option(
                $0.rawValue, value: "TEXT", help: meaning($0.rawValue), group: "Field of use",
                form: .label(maximumBytes))
        }
    }

    package init(_ arguments: ParsedArguments) throws(GantryError) {
        func part(_ part: Part) throws(GantryError) -> String? {
            let form = ValueForm.label(Self.maximumBytes)
            return try arguments.value(part.rawValue, form.expected) { form.accepts($0) ? $0 : nil }
        }
        self.init(venue: try part(.venue), owner: try part(.owner), app: try part(.app))
    }

    /// The parts that are named, for JSON.
    package var members: [JSONValue.Member] {
        Part.allCases.compactMap { part in self[part].map { .init(part.rawValue, .string($0)) } }
    }
}
