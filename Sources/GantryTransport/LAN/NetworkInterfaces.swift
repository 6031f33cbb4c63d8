import Glibc

/// The addresses of this machine that another one may reach.
package enum NetworkInterfaces {
    /// Names of interfaces that lead to containers and virtual machines only.
    private static let skipped = ["lo", "docker", "veth", "virbr", "vnet", "vboxnet", "br-"]

    /// The IPv4 address of the first real network that is up: four bytes. Nil without one.
    package static func firstIPv4() -> [UInt8]? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var entry = list
        while let interface = entry?.pointee {
            entry = interface.ifa_next
            let isUp = interface.ifa_flags & UInt32(IFF_UP) != 0
            let name = String(cString: interface.ifa_name)
            guard isUp, !skipped.contains(where: { name.hasPrefix($0) }), let address = interface.ifa_addr,
                CInt(address.pointee.sa_family) == AF_INET
            else { continue }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin_addr.s_addr) { Array($0) }
            }
        }
        return nil
    }
}

extension NetworkInterfaces {
    /// Four bytes of "192.168.1.5"; nil for anything else.
    package static func parseIPv4(_ text: String) -> [UInt8]? {
        var address = in_addr()
        guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
        return withUnsafeBytes(of: address.s_addr) { Array($0) }
    }
}
