public import GantryCore

/// A studio on the USB cable that is not paired asks to be let in. A value.
public struct StudioRequest: Sendable, Hashable, Identifiable {
    /// Of the connection.
    public let id: UInt64
    /// TLS has proved that it has this key.
    public let keyID: KeyID
    /// What it calls itself; safe to print. A claim.
    public let name: String

    /// What to do with it.
    public enum Answer: String, Sendable, CaseIterable {
        /// It is turned away, and not asked about again while the producer runs.
        case no
        /// It is let in until it disconnects.
        case once
        /// It is paired, via USB.
        case always
    }
}
