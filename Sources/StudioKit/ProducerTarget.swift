public import GantryCore
import GantryTransport

/// Where to dial, and who must answer there.
public struct ProducerTarget: Sendable {
    public var endpoint: Endpoint
    /// The key that must answer; nil: any producer that is paired.
    public var keyID: KeyID?
    /// For people: the device's name, or the address.
    public var name: String

    public init(endpoint: Endpoint, keyID: KeyID? = nil, name: String? = nil) {
        self.endpoint = endpoint
        self.keyID = keyID
        self.name = name ?? endpoint.description
    }
}
