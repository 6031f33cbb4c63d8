public import GantryCore

/// What a `StudioService` knows at one moment. A value.
public struct ServiceStatus: Sendable, Hashable {
    /// Whether a paired producer can be received.
    public var state: ServiceState
    /// The paired producers of the studio's field of use that say they are on this network, or on a cable. They are not
    /// proved: `StudioController.proveVenue` does that.
    public var producers: [PairedDevice]

    /// Whether this network is one where a paired producer can be reached.
    public var isInVenue: Bool { !producers.isEmpty }
}
