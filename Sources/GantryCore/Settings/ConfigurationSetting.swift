/// What is known of one setting of a controller: for documentation, and for programs that show settings.
public struct ConfigurationSetting: Sendable, Hashable {
    /// From when on a change counts.
    public enum Application: String, Sendable, Hashable {
        /// Also for what runs already.
        case atOnce
        /// For sessions that are made from now on.
        case nextSession
        /// From the next `start()` on.
        case nextStart
        /// It can only be given when the controller is made.
        case atCreation
    }

    /// The key in JSON and in a dictionary; where a tool has the same option, its long name.
    public let key: String
    /// What it takes, in words: "a port number from 0 to 65535".
    public let allowed: String
    /// What null stands for; `null` where that depends on the machine, as `summary` says.
    public let defaultValue: SettingValue
    /// One sentence.
    public let summary: String
    /// From when on a change of it counts.
    public let application: Application

    package init(
        key: String, allowed: String, defaultValue: SettingValue, summary: String, application: Application
    ) {
        self.key = key
        self.allowed = allowed
        self.defaultValue = defaultValue
        self.summary = summary
        self.application = application
    }
}
