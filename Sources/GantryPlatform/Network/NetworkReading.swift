package import GantryCore
import Glibc

extension NetworkInformation {
    /// Switched on, with a carrier.
    private static let up = UInt32(IFF_UP) | UInt32(IFF_RUNNING)

    /// The networks of this machine now: getifaddrs(3), /sys/class/net, nl80211. Blocks for some milliseconds.
    package static func now() -> NetworkInformation {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return NetworkInformation(interfaces: []) }
        defer { freeifaddrs(list) }
        var names: [String] = []
        var flags: [String: UInt32] = [:]
        var addresses: [String: [String]] = [:]
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let name = String(cString: entry.ifa_name)
            if flags.updateValue(entry.ifa_flags, forKey: name) == nil { names.append(name) }
            if let address = entry.ifa_addr, let text = text(of: address) { addresses[name, default: []].append(text) }
        }
        let wifi = WiFiQuery.connections()
        return NetworkInformation(
            interfaces: names.map { name in
                let index = Int(if_nametoindex(name))
                let flags = flags[name] ?? 0
                let isUp = flags & up == up
                return NetworkInterface(
                    name: name, index: index, kind: kind(name, flags, isWiFi: wifi[index] != nil), isUp: isUp,
                    addresses: addresses[name] ?? [], megabitsPerSecond: speed(name), wifi: wifi[index])
            })
    }

    /// Numbers alone, with the zone of a link-local one; nil for what is no IP address.
    private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
        let size: Int
        switch CInt(address.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func kind(_ name: String, _ flags: UInt32, isWiFi: Bool) -> NetworkInterface.Kind {
        if flags & UInt32(IFF_LOOPBACK) != 0 { return .loopback }
        let folder = "/sys/class/net/\(name)"
        if isWiFi || access("\(folder)/phy80211", F_OK) == 0 || access("\(folder)/wireless", F_OK) == 0 {
            return .wifi
        }
        // What is made by software alone stands on no bus.
        guard access("\(folder)/device", F_OK) == 0 else { return .virtual }
        // ARPHRD_ETHER.
        return number("\(folder)/type") == 1 ? .wired : .other
    }

    /// Mbit/s; the kernel says -1 for "not known".
    private static func speed(_ name: String) -> Int? {
        number("/sys/class/net/\(name)/speed").flatMap { $0 > 0 ? $0 : nil }
    }

    /// A number that stands alone in a small file.
    private static func number(_ path: String) -> Int? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileDescriptor(takingOwnership: descriptor)
        var bytes = [UInt8](repeating: 0, count: 32)
        guard case .bytes(let count)? = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0) }) else {
            return nil
        }
        return Int(String(decoding: bytes.prefix(count).prefix { $0 > 0x20 }, as: UTF8.self))
    }
}
