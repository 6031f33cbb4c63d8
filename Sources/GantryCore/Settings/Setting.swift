/// One row of the table of a configuration's settings: how it is called, what it takes, and where it is kept.
package struct Setting<Configuration>: Sendable {
    package let key: String
    package let form: ValueForm
    package let summary: String
    package let application: ConfigurationSetting.Application
    package let read: @Sendable (Configuration) -> SettingValue
    /// Text of the form, or nil for the default.
    package let write: @Sendable (inout Configuration, String?) -> Void

    package init(
        _ key: String, _ form: ValueForm, _ application: ConfigurationSetting.Application, _ summary: String,
        read: @escaping @Sendable (Configuration) -> SettingValue,
        write: @escaping @Sendable (inout Configuration, String?) -> Void
    ) {
        self.key = key
        self.form = form
        self.application = application
        self.summary = summary
        self.read = read
        self.write = write
    }

    /// What cannot be `value` throws `invalidArgument`, beginning with `place`.
    fileprivate func set(
        _ value: SettingValue, in configuration: inout Configuration, place: String
    ) throws(GantryError) {
        let text = value.text
        // A flag is no text, and the other way round.
        let isOfKind = if case .bool = value { form == .flag } else { form != .flag || text == nil }
        guard let text else { return write(&configuration, nil) }
        guard isOfKind, form.accepts(text) else {
            let shown = DisplayName.sanitized(text, graphemes: 60, bytes: 240)
            throw GantryError(.invalidArgument, "\(place)\(key) cannot be \"\(shown)\". It takes \(form.expected).")
        }
        write(&configuration, text)
    }
}

/// All settings of a configuration. Setting is all or nothing.
package struct SettingTable<Configuration: Sendable>: Sendable {
    package let rows: [Setting<Configuration>]
    /// A configuration that nobody has changed.
    private let initial: Configuration

    package init(_ initial: Configuration, _ rows: [Setting<Configuration>]) {
        self.initial = initial
        self.rows = rows
    }

    package var descriptions: [ConfigurationSetting] { rows.map(describe) }

    package func describe(_ row: Setting<Configuration>) -> ConfigurationSetting {
        ConfigurationSetting(
            key: row.key, allowed: row.form.expected, defaultValue: row.read(initial), summary: row.summary,
            application: row.application)
    }

    /// Every setting, as it is in `configuration`.
    package func values(of configuration: Configuration) -> [String: SettingValue] {
        Dictionary(rows.map { ($0.key, $0.read(configuration)) }) { first, _ in first }
    }

    /// The same as JSON, in the table's order, one setting a line.
    package func json(of configuration: Configuration) -> String {
        let members = rows.map { "  \(JSONValue.string($0.key).text): \($0.read(configuration).json.text)" }
        return "{\n" + members.joined(separator: ",\n") + "\n}\n"
    }

    /// `configuration` with these values.
    ///
    /// - Throws: `invalidArgument`, which names the key and says what is allowed.
    package func changed(
        _ configuration: Configuration, by values: [String: SettingValue]
    ) throws(GantryError) -> Configuration {
        // The same fault is told each time.
        try changed(configuration, by: values.sorted { $0.key < $1.key }) { _ in "" }
    }

    /// The same from a JSON object.
    ///
    /// - Throws: `invalidArgument`, which names line and key and says what is allowed.
    package func changed(_ configuration: Configuration, byJSON json: String) throws(GantryError) -> Configuration {
        let text = try JSONText(json.utf8)
        guard let members = text.value.members else {
            throw GantryError(.invalidArgument, "A configuration is a JSON object, as in {\"name\": \"Desk\"}.")
        }
        var values: [(key: String, value: SettingValue)] = []
        for member in members {
            guard let value = SettingValue(member.value) else {
                throw GantryError(
                    .invalidArgument,
                    "Line \(text.line(of: [member.name])): \(DisplayName(member.name)) is an array or object. Give it one value."
                )
            }
            values.append((member.name, value))
        }
        return try changed(configuration, by: values) { "Line \(text.line(of: [$0])): " }
    }

    private func changed(
        _ configuration: Configuration, by values: [(key: String, value: SettingValue)], place: (String) -> String
    ) throws(GantryError) -> Configuration {
        var result = configuration
        // In the order of the table, since one may switch on what another one is about.
        func rank(_ key: String) -> Int { rows.firstIndex { $0.key == key } ?? rows.count }
        for (key, value) in values.sorted(by: { rank($0.key) < rank($1.key) }) {
            guard let row = rows.first(where: { $0.key == key }) else { throw unknown(key, place(key)) }
            try row.set(value, in: &result, place: place(key))
        }
        return result
    }

    private func unknown(_ key: String, _ place: String) -> GantryError {
        let names = rows.map(\.key)
        let hint =
            Spelling.nearest(to: key, among: names).map { "Did you mean \($0)?" }
            ?? "There are: \(names.joined(separator: ", "))."
        return GantryError(.invalidArgument, "\(place)There is no setting \"\(DisplayName(key))\". \(hint)")
    }
}
