public import GantryCore
import GantryPlatform

/// Configuration at run time. Any thread; nothing blocks.
extension StudioController {
    /// Every setting that `configure` takes.
    public static var settings: [ConfigurationSetting] { StudioSettings.table.descriptions }

    /// The version of this library, "MAJOR.MINOR.PATCH".
    public static var version: String { GantryVersion.text }

    /// This machine's monotonic clock (`CLOCK_MONOTONIC`) now: what capture, arrival and decoding are stamped with.
    public static var now: MediaTimestamp { MonotonicClock.now() }

    /// What is told on standard error, of the whole process. At the beginning `warning`.
    public static var logLevel: LogLevel {
        get { Log.publicLevel }
        set { Log.publicLevel = newValue }
    }

    /// The configuration as it is now, also what counts for the next session only.
    public var configuration: StudioConfiguration { configured.value }

    /// The same, as `configure` takes it: every setting, whether it was set or not.
    public var configurationValues: [String: SettingValue] { configured.values }

    /// The same as a JSON object, one setting a line.
    public var configurationJSON: String { configured.json }

    /// Changes settings: all that are named, or none.
    ///
    /// - Returns: what has changed and does not count yet; `ConfigurationSetting.application` says from when.
    /// - Throws: `invalidArgument`, which names the key and says what is allowed; `invalidState` for a setting that cannot
    ///   change any more.
    @discardableResult
    public func configure(_ values: [String: SettingValue]) throws(GantryError) -> [ConfigurationSetting] {
        try configured.configure(values)
    }

    /// As `configure(_:)`, from a JSON object of at most 256 KiB.
    ///
    /// - Throws: the same; the message names the line as well.
    @discardableResult
    public func configure(json: String) throws(GantryError) -> [ConfigurationSetting] {
        try configured.configure(json: json)
    }

    /// What a session is made with, as the configuration says; add outputs, and hand it to `makeSession`.
    public var sessionConfiguration: StudioSessionConfiguration { configured.value.session }
}
