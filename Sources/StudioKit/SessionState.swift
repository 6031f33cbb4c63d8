public import GantryCore

/// Where a session is in its life.
public enum SessionState: Sendable, Equatable {
    /// Made, not started.
    case idle
    /// The first connection is being made.
    case connecting
    /// The producer has let us in.
    case connected
    /// The connection was lost, or the producer has said goodbye; it is being made again.
    case reconnecting
    /// Closed in order, by either side.
    case ended
    /// Ended because of that.
    case failed(GantryError)

    public static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.idle, .idle), (.connecting, .connecting), (.connected, .connected), (.reconnecting, .reconnecting),
            (.ended, .ended):
            true
        case (.failed(let a), .failed(let b)): a.code == b.code && a.message == b.message
        default: false
        }
    }
}

extension SessionState: CustomStringConvertible {
    /// For logs: "connected", "failed: …".
    public var description: String {
        switch self {
        case .idle: "idle"
        case .connecting: "connecting"
        case .connected: "connected"
        case .reconnecting: "reconnecting"
        case .ended: "ended"
        case .failed(let error): "failed: \(error.message)"
        }
    }
}
