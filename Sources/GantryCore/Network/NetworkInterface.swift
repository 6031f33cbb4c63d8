/// One network interface of this machine, as it was when it was asked for. A value.
public struct NetworkInterface: Sendable, Hashable, Identifiable {
    /// What it is a way through.
    public enum Kind: String, Sendable, Hashable {
        /// Ethernet, also by a USB adapter.
        case wired
        /// A radio of the kinds of IEEE 802.11.
        case wifi
        /// This machine alone.
        case loopback
        /// A bridge, a tunnel, the end of a container's or a virtual machine's network, a dummy.
        case virtual
        /// Neither of these: a modem, InfiniBand, a CAN bus.
        case other
    }

    /// As in `ip link`: "eth0".
    public let name: String
    /// The kernel's number of it.
    public let index: Int
    /// What it is a way through, as the kernel says.
    public let kind: Kind
    /// It is switched on, and has a cable or an access point.
    public let isUp: Bool
    /// "192.168.1.20", "fd00::5"; link-local ones with their zone: "fe80::1%eth0".
    public let addresses: [String]
    /// In Mbit/s, as the driver says; nil where it does not.
    public let megabitsPerSecond: Int?
    /// Nil when it is none, or not connected.
    public let wifi: WiFiConnection?

    public var id: Int { index }

    package init(
        name: String, index: Int, kind: Kind, isUp: Bool, addresses: [String], megabitsPerSecond: Int? = nil,
        wifi: WiFiConnection? = nil
    ) {
        self.name = name
        self.index = index
        self.kind = kind
        self.isUp = isUp
        self.addresses = addresses
        self.megabitsPerSecond = megabitsPerSecond
        self.wifi = wifi
    }

    /// Whether it leads anywhere beyond this machine: up, with an address, no loopback, and not to containers and virtual
    /// machines only.
    public var isUsable: Bool {
        isUp && kind != .loopback && !addresses.isEmpty && !Self.isInside(name)
    }

    /// Whether an interface of this name leads to this machine itself, its containers or virtual machines: the names that
    /// Docker, libvirt, VirtualBox and the kernel give.
    package static func isInside(_ name: String) -> Bool {
        ["lo", "docker", "veth", "virbr", "vnet", "vboxnet", "br-"].contains { name.hasPrefix($0) }
    }
}
