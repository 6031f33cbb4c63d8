public import GantryCore
import GantryTransport

/// Whom to connect to, and where.
public struct ProducerTarget: Sendable {
    /// Nil: where the device was met last, and wherever this network knows it.
    public var endpoint: Endpoint?
    /// The key that must answer; nil: any producer that is paired.
    public var keyID: KeyID?
    /// For people: the device's name, or the address.
    public var name: String

    /// A producer at an address: the one with this key, or whichever is paired.
    public init(endpoint: Endpoint, keyID: KeyID? = nil, name: String? = nil) {
        self.endpoint = endpoint
        self.keyID = keyID
        self.name = name ?? endpoint.description
    }

    /// A paired producer, wherever it is.
    public init(_ device: PairedDevice) {
        keyID = device.keyID
        name = device.displayedName
    }
}
