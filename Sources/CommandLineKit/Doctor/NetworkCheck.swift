package import GantryCore

/// Through which networks the other end can be reached, and which address a pairing code carries.
package enum NetworkCheck {
    /// The interface of the default route (/proc/net/route: destination and mask are zero), of the smallest metric.
    package static func defaultInterface(_ files: SystemFiles) -> String? {
        let routes = files.lines("/proc/net/route").dropFirst().compactMap { line -> (name: String, metric: Int)? in
            let fields = line.split { $0 == "\t" || $0 == " " }
            guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000" else { return nil }
            return (String(fields[0]), Int(fields[6]) ?? 0)
        }
        return routes.min { $0.metric < $1.metric }?.name
    }

    /// - Parameter isStudio: shows codes.
    package static func judge(
        _ information: NetworkInformation, defaultInterface: String?, isStudio: Bool
    ) -> [Finding] {
        let usable = information.interfaces.filter(\.isUsable)
        guard let first = usable.first(where: { $0.addresses.contains(where: isIPv4) }) ?? usable.first else {
            return [
                .problem(
                    "This machine is on no network. Plug in a cable or join a Wi-Fi; over USB it works without.",
                    "ip -brief address")
            ]
        }
        let address = first.addresses.first(where: isIPv4) ?? first.addresses.first ?? ""
        let list = usable.map { "\($0.name) \($0.addresses.first(where: isIPv4) ?? $0.addresses.first ?? "")" }
        var findings: [Finding] = [.ok("On the network by \(list.joined(separator: ", ")).")]
        if isStudio, usable.count > 1 {
            findings.append(
                .warning(
                    "Of \(usable.count) networks, pairing codes carry \(address) (\(first.name)). Where producers are on another one, name its address.",
                    "gantry-studio pair --address IP"))
        }
        if let defaultInterface, isTunnel(defaultInterface) {
            findings.append(
                .warning(
                    "All goes into \(defaultInterface), which looks like a VPN. Many of them cut off the machines of the own network.",
                    "ip route get \(address)"))
        }
        return findings
    }

    private static func isIPv4(_ address: String) -> Bool { !address.contains(":") }

    /// The names that OpenVPN, WireGuard, Tailscale, PPP and the vendors give.
    private static func isTunnel(_ name: String) -> Bool {
        ["tun", "tap", "wg", "tailscale", "ppp", "vpn", "nordlynx", "proton"].contains { name.hasPrefix($0) }
    }
}
