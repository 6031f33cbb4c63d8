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
        StandardStreams.writeError("\(level.name): \(text())\n")
    }
}
