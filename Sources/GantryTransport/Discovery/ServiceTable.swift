import GantryCore

/// What a browse has found: one entry for each interface, protocol, name and domain, and the services they make up.
/// A pure value; everything in it comes from strangers and is bounded.
struct ServiceTable {
    /// Where one answer came from. The name in bytes: two that Swift holds for equal may differ on the network.
    struct Key: Hashable {
        let interface: Int32
        let networkProtocol: Int32
        let name: [UInt8]
        let domain: [UInt8]
    }

    struct Address: Hashable {
        let host: String
        let isLinkLocalIPv6: Bool
        let port: UInt16
    }

    private struct Entry {
        let name: String
        let arrival: Int
        var address: Address?
        var text: [String: String] = [:]
        /// When `text` came, in the table's own count.
        var age = 0
    }

    /// Entries, and so resolvers, of one browse.
    static let maximumEntries = 256
    /// Answers that wait for room: as many as the daemon itself keeps (cache-entries-max of avahi-daemon.conf(5)).
    static let maximumLeftOut = 4096
    static let maximumServices = 64
    static let maximumEndpoints = 16

    private var entries: [Key: Entry] = [:]
    private var leftOut: Set<Key> = []
    private var count = 0

    enum Addition { case added, known, full }

    /// Room for an answer that is still to be resolved.
    mutating func add(_ key: Key, name: String) -> Addition {
        if entries[key] != nil { return .known }
        if entries.count >= Self.maximumEntries {
            if leftOut.count < Self.maximumLeftOut { leftOut.insert(key) }
            return .full
        }
        leftOut.remove(key)
        count &+= 1
        entries[key] = Entry(name: name, arrival: count)
        return .added
    }

    /// An answer, which takes the place of an earlier one.
    mutating func resolve(_ key: Key, address: Address, text: [String: String]) {
        guard var entry = entries[key] else { return }
        count &+= 1
        // Port 0 is no port: nothing can be reached there.
        entry.address = address.port == 0 ? nil : address
        entry.text = text
        entry.age = count
        entries[key] = entry
    }

    /// An answer is gone. Returns one that there was no room for, to be added now: any, so that whoever floods the
    /// network cannot choose which.
    mutating func remove(_ key: Key) -> Key? {
        leftOut.remove(key)
        guard entries.removeValue(forKey: key) != nil else { return nil }
        return leftOut.popFirst()
    }

    mutating func removeAll() {
        entries.removeAll()
        leftOut.removeAll()
    }

    /// All services that have an address, sorted by name. When there are too many, each machine keeps its first, then its
    /// second, and so on: one that claims to be hundreds does not displace the others.
    func services(_ type: ServiceType) -> [DiscoveredService] {
        let resolved = entries.values.filter { $0.address != nil }
        let services = Dictionary(grouping: resolved, by: \.name).map { name, entries in
            (
                arrival: entries.map(\.arrival).min() ?? 0,
                service: DiscoveredService(
                    type: type, name: name, endpoints: Self.endpoints(entries.compactMap(\.address)),
                    text: entries.max { $0.age < $1.age }?.text ?? [:])
            )
        }
        return services.sorted { $0.arrival < $1.arrival }.map(\.service)
            .inTurn { $0.endpoints.first?.host ?? "" }.prefix(Self.maximumServices)
            .sorted { $0.name < $1.name }
    }

    /// Each once; link-local ones last, since they work on one interface only.
    private static func endpoints(_ addresses: [Address]) -> [Endpoint] {
        Set(addresses).sorted { a, b in
            if a.isLinkLocalIPv6 != b.isLinkLocalIPv6 { return b.isLinkLocalIPv6 }
            let (aIsIPv6, bIsIPv6) = (a.host.contains(":"), b.host.contains(":"))
            if aIsIPv6 != bIsIPv6 { return bIsIPv6 }
            return (a.host, a.port) < (b.host, b.port)
        }.prefix(maximumEndpoints).map { Endpoint(host: $0.host, port: $0.port) }
    }
}
