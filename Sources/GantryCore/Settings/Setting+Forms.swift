/// Rows for the usual kinds of properties.
extension Setting {
    /// Text, or nil.
    package static func text(
        _ key: String, _ form: ValueForm, _ path: any WritableKeyPath<Configuration, String?> & Sendable,
        _ application: ConfigurationSetting.Application, _ summary: String
    ) -> Self {
        Self(
            key, form, application, summary, read: { $0[keyPath: path].map(SettingValue.string) ?? .null },
            write: { $0[keyPath: path] = $1 })
    }

    package static func flag(
        _ key: String, default usual: Bool, _ path: any WritableKeyPath<Configuration, Bool> & Sendable,
        _ application: ConfigurationSetting.Application, _ summary: String
    ) -> Self {
        Self(
            key, .flag, application, summary, read: { .bool($0[keyPath: path]) },
            write: { $0[keyPath: path] = $1.map { $0 == "true" } ?? usual })
    }

    /// One of an enumeration's words.
    package static func word<Word: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, default usual: Word, _ path: any WritableKeyPath<Configuration, Word> & Sendable,
        _ application: ConfigurationSetting.Application, _ summary: String
    ) -> Self {
        Self(
            key, .word(Word.allCases.map(\.rawValue)), application, summary,
            read: { .string($0[keyPath: path].rawValue) },
            write: { $0[keyPath: path] = $1.flatMap(Word.init) ?? usual })
    }

    /// Text that may be nil, in an enumeration's words.
    package static func word<Word: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Configuration, Word?> & Sendable,
        _ application: ConfigurationSetting.Application, _ summary: String
    ) -> Self {
        Self(
            key, .word(Word.allCases.map(\.rawValue)), application, summary,
            read: { $0[keyPath: path].map { .string($0.rawValue) } ?? .null },
            write: { $0[keyPath: path] = $1.flatMap(Word.init) })
    }

    /// A time, or nil for none.
    package static func duration(
        _ key: String, _ range: ClosedRange<MediaDuration>,
        _ path: any WritableKeyPath<Configuration, MediaDuration?> & Sendable,
        _ application: ConfigurationSetting.Application, _ summary: String
    ) -> Self {
        Self(
            key, .duration(range), application, summary, read: { $0[keyPath: path].map { .string($0.text) } ?? .null },
            write: { $0[keyPath: path] = $1.flatMap { MediaDuration(text: $0) } })
    }
}
