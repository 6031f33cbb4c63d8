package import GantryCore

/// Whether the network can be asked.
package enum DiscoveryState: Sendable {
    case running
    /// Told once for each outage; what was asked for goes on by itself when the daemon is back.
    case unavailable(GantryError)
}
