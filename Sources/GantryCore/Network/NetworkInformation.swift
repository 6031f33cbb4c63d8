/// The networks of this machine at one moment. A value; see `StudioController.networkInformation`.
public struct NetworkInformation: Sendable, Hashable {
    /// All interfaces, in the kernel's order.
    public let interfaces: [NetworkInterface]

    package init(interfaces: [NetworkInterface]) { self.interfaces = interfaces }

    /// Whether another machine may be reached at all.
    public var isConnected: Bool { interfaces.contains(where: \.isUsable) }

    /// The first Wi-Fi network that this machine is in.
    public var wifi: WiFiConnection? { interfaces.compactMap(\.wifi).first }
}
