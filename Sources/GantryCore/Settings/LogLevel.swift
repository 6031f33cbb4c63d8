/// How much is told on standard error. Of the whole process.
public enum LogLevel: String, Sendable, CaseIterable {
    case error
    case warning
    case info
    case debug
}
