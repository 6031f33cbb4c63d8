public import GantryCore

/// What becomes of a `RelayOutput`. The descriptions of errors never hold what is secret in its URL.
public enum RelayEvent: Sendable {
    /// The media server takes what comes: the first time, or again.
    case connected
    /// The server has gone, or could not be reached; it is tried again after that time.
    case lost(GantryError, retryAfter: MediaDuration)
    /// The server takes less than comes: media are left out up to a key frame. Told once for each connection.
    case tooSlow
}
