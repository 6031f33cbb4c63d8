public import GantryCore

/// The connection that a stream comes by, never one to this very installation: that is refused, and the error says so. A value.
public struct StreamConnection: Sendable, Hashable {
    /// Of the producer; safe to print.
    public let producer: String
    /// As in 192.168.1.20:7787, usb:SERIAL, or the URL.
    public let address: String
    /// The key that the producer has proved; nil: by URL.
    public let keyID: KeyID?
}
