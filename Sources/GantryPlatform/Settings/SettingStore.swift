package import GantryCore

/// The configuration of a controller, which changes while it runs. Any thread.
package final class SettingStore<Configuration: Sendable>: @unchecked Sendable {  // `current` is guarded by `lock`.
    package let table: SettingTable<Configuration>
    private let lock = Lock()
    private var current: Configuration
    private let level: @Sendable (Configuration) -> LogLevel?

    /// - Parameter level: the log level that a configuration asks for.
    package init(
        _ configuration: Configuration, _ table: SettingTable<Configuration>,
        level: @escaping @Sendable (Configuration) -> LogLevel?
    ) {
        current = configuration
        self.table = table
        self.level = level
        if let level = level(configuration) { Log.publicLevel = level }
    }

    package var value: Configuration { lock.withLock { current } }
    package var values: [String: SettingValue] { table.values(of: value) }
    package var json: String { table.json(of: value) }

    /// - Returns: what has changed and does not count yet.
    /// - Throws: `invalidArgument` for what cannot be, `invalidState` for what cannot change any more; nothing has
    ///   changed then.
    package func configure(_ values: [String: SettingValue]) throws(GantryError) -> [ConfigurationSetting] {
        try change { former throws(GantryError) in try table.changed(former, by: values) }
    }

    /// The same from a JSON object.
    package func configure(json: String) throws(GantryError) -> [ConfigurationSetting] {
        try change { former throws(GantryError) in try table.changed(former, byJSON: json) }
    }

    private func change(
        _ change: (Configuration) throws(GantryError) -> Configuration
    ) throws(GantryError) -> [ConfigurationSetting] {
        try lock.withLock { () throws(GantryError) in
            let new = try change(current)
            let changed = table.rows.filter { $0.read(current) != $0.read(new) }
            if let row = changed.first(where: { $0.application == .atCreation }) {
                throw GantryError(
                    .invalidState,
                    "\(row.key) cannot change any more: give it in the configuration that the controller is made with.")
            }
            current = new
            if let level = level(new) { Log.publicLevel = level }
            return changed.filter { $0.application != .atOnce }.map(table.describe)
        }
    }
}

extension Log {
    /// `level` in the kits' words.
    package static var publicLevel: LogLevel {
        get { LogLevel(rawValue: level.name) ?? .warning }
        set { level = Level.allCases.first { $0.name == newValue.rawValue } ?? .warning }
    }
}
