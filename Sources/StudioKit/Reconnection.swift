import GantryCore

/// Whether a session goes on when its connection has ended. It never does after a no: not paired, removed, refused, another
/// version.
public enum Reconnection: Sendable {
    /// A connection's end is the session's.
    case never
    /// After a connection was lost, until the producer says goodbye or `close()`.
    case afterLoss
    /// Until `close()`: also before the producer is there, and after its goodbye.
    case always

    /// - Parameter stood: there has been a connection.
    func goesOn(after end: ConnectionEnd, stood: Bool) -> Bool {
        switch (self, end) {
        case (.never, _), (_, .byUs): false
        case (.afterLoss, .byProducer): false
        case (.always, .byProducer): true
        case (.afterLoss, .failed(let error)): stood && ReconnectDelay.isWorthwhile(after: error)
        case (.always, .failed(let error)): ReconnectDelay.isWorthwhile(after: error)
        }
    }
}
