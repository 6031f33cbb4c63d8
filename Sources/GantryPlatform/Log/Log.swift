import Glibc
import Synchronization

/// Lines for people on standard error. Peer text goes through `DisplayName` first; secrets never come here.
package enum Log {
    package enum Level: Int, Sendable, Comparable, CaseIterable {
        case error = 0
        case warning, info, debug

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
        package var name: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .info: "info"
            case .debug: "debug"
            }
        }
    }

    private static let sink = LogSink()

    /// Hands whole lines (with their newline) to `write` instead of standard error; nil undoes it. For a tool that
    /// keeps a status line below them. Called on the thread that logs.
    package static func setSink(_ write: (@Sendable (String) -> Void)?) { sink.set(write) }

    private static let current = Atomic<Int>(Level.warning.rawValue)

    package static var level: Level {
        get { Level(rawValue: current.load(ordering: .relaxed)) ?? .warning }
        set { current.store(newValue.rawValue, ordering: .relaxed) }
    }

    package static func error(_ text: @autoclosure () -> String) { write(.error, text) }
    package static func warning(_ text: @autoclosure () -> String) { write(.warning, text) }
    package static func info(_ text: @autoclosure () -> String) { write(.info, text) }
    package static func debug(_ text: @autoclosure () -> String) { write(.debug, text) }

    private static func write(_ level: Level, _ text: () -> String) {
        guard level <= self.level else { return }
        sink.write("\(level.name): \(text())\n")
    }
}

/// Where log lines go.
private final class LogSink: @unchecked Sendable {  // `target` is guarded by `lock`.
    private let lock = Lock()
    private var target: (@Sendable (String) -> Void)?

    func set(_ newTarget: (@Sendable (String) -> Void)?) { lock.withLock { target = newTarget } }

    func write(_ line: String) {
        guard let target = lock.withLock({ target }) else { return StandardStreams.writeError(line) }
        target(line)
    }
}
