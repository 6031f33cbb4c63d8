package import GantryCore
import Glibc

/// The addresses of this machine that another one may reach.
package enum NetworkInterfaces {
    private struct Entry {
        let interface: String
        /// 4 or 16 bytes.
        let address: [UInt8]

        var isLinkLocal: Bool { PairingEndpoint(address: address, port: 1)?.isLinkLocal ?? false }
    }

    /// What a pairing code names: the IPv4 address of the first real network that is up, else its IPv6 address (a global
    /// one before a link-local one), else 127.0.0.1. Four or sixteen bytes.
    package static func pairingAddress() -> [UInt8] {
        let all = entries()
        let best =
            all.first { $0.address.count == 4 } ?? all.first { !$0.isLinkLocal } ?? all.first
        return best?.address ?? [127, 0, 0, 1]
    }

    /// Where to dial what a code names: a link-local address through each interface that has one.
    package static func endpoints(for endpoint: PairingEndpoint) -> [Endpoint] {
        guard endpoint.isLinkLocal else { return [Endpoint(host: endpoint.host, port: endpoint.port)] }
        let interfaces = entries().filter(\.isLinkLocal).map(\.interface)
        return interfaces.map { Endpoint(host: "\(endpoint.host)%\($0)", port: endpoint.port) }
    }

    /// Four bytes of "192.168.1.5", or sixteen of "fd00::5"; nil for anything else.
    package static func parseAddress(_ text: String) -> [UInt8]? {
        if let bytes = parseIPv4(text) { return bytes }
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        return withUnsafeBytes(of: address) { Array($0) }
    }

    /// Four bytes of "192.168.1.5"; nil for anything else.
    package static func parseIPv4(_ text: String) -> [UInt8]? {
        var address = in_addr()
        guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
        return withUnsafeBytes(of: address.s_addr) { Array($0) }
    }

    private static func entries() -> [Entry] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var entries: [Entry] = []
        var next = list
        while let interface = next?.pointee {
            next = interface.ifa_next
            let isUp = interface.ifa_flags & UInt32(IFF_UP) != 0
            let name = String(cString: interface.ifa_name)
            guard isUp, !NetworkInterface.isInside(name), let pointer = interface.ifa_addr,
                let address = bytes(of: pointer)
            else { continue }
            entries.append(Entry(interface: name, address: address))
        }
        return entries
    }

    private static func bytes(of address: UnsafeMutablePointer<sockaddr>) -> [UInt8]? {
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin_addr.s_addr) { Array($0) }
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
            }
        default: nil
        }
    }
}
