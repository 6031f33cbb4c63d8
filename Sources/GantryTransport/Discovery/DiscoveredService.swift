package import GantryCore

/// A service on the network: all that is known of one instance name, over all interfaces. A value. Everything in it comes
/// from strangers.
package struct DiscoveredService: Sendable, Hashable {
    package var type: ServiceType
    /// As on the network: not fit for showing, see `DisplayName`.
    package var name: String
    /// Every address that it was resolved to, each once, at most 16. A link-local IPv6 address carries its interface as
    /// zone ("fe80::1%eth0").
    package var endpoints: [Endpoint]
    /// TXT keys in lower case and their values; what is not UTF-8, or is too long, is left out.
    package var text: [String: String]

    package init(type: ServiceType, name: String, endpoints: [Endpoint], text: [String: String]) {
        self.type = type
        self.name = name
        self.endpoints = endpoints
        self.text = text
    }
}
