/// How much is told on standard error. Of the whole process.
public enum LogLevel: String, Sendable, CaseIterable {
    /// What ends something.
    case error
    /// Also what should not be so, and goes on.
    case warning
    /// Also what happens.
    case info
    /// Also how it is done: modes, addresses, decisions.
    case debug
}
