/// An address in a pairing code, where the studio listens for producers that cannot use mDNS.
package enum PairingEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// Four bytes.
    case ipv4(address: [UInt8], port: UInt16)
    /// Sixteen bytes.
    case ipv6(address: [UInt8], port: UInt16)

    /// Four bytes of address, or sixteen; nil for another number.
    package init?(address: [UInt8], port: UInt16) {
        switch address.count {
        case 4: self = .ipv4(address: address, port: port)
        case 16: self = .ipv6(address: address, port: port)
        default: return nil
        }
    }

    /// An IPv6 address that counts on one link only (fe80::/10, RFC 4291 section 2.5.6): it has to be dialled through an
    /// interface.
    package var isLinkLocal: Bool {
        guard case .ipv6(let address, _) = self, address.count == 16 else { return false }
        return address[0] == 0xFE && address[1] & 0xC0 == 0x80
    }

    package var port: UInt16 {
        switch self {
        case .ipv4(_, let port), .ipv6(_, let port): port
        }
    }

    /// As `inet_pton` reads it, without brackets.
    package var host: String {
        switch self {
        case .ipv4(let address, _): address.map(String.init).joined(separator: ".")
        case .ipv6(let address, _):
            stride(from: 0, to: address.count - 1, by: 2)
                .map { String(UInt16(address[$0]) << 8 | UInt16(address[$0 + 1]), radix: 16) }
                .joined(separator: ":")
        }
    }

    package var description: String {
        switch self {
        case .ipv4: "\(host):\(port)"
        case .ipv6: "[\(host)]:\(port)"
        }
    }

    /// `192.0.2.7:4010`, strictly: no leading zeros, port 1…65535.
    init?(ipv4 text: some StringProtocol) {
        let halves = text.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count == 2, let port = Self.number(halves[1], 65535), port > 0 else { return nil }
        var address: [UInt8] = []
        for part in halves[0].split(separator: ".", omittingEmptySubsequences: false) {
            guard let value = Self.number(part, 255) else { return nil }
            address.append(UInt8(value))
        }
        guard address.count == 4 else { return nil }
        self = .ipv4(address: address, port: UInt16(port))
    }

    /// Base 32 of 16 bytes of address and 2 of port.
    init?(ipv6 text: some StringProtocol) {
        guard let bytes = Base32.decode(text), bytes.count == 18 else { return nil }
        let port = UInt16(bytes[16]) << 8 | UInt16(bytes[17])
        guard port > 0 else { return nil }
        self = .ipv6(address: Array(bytes[..<16]), port: port)
    }

    /// Decimal digits without sign or leading zero, at most `limit` (below 100 000).
    static func number(_ text: some StringProtocol, _ limit: Int) -> Int? {
        guard 1...5 ~= text.utf8.count, text == "0" || text.utf8.first != UInt8(ascii: "0") else { return nil }
        var value = 0
        for digit in text.utf8 {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value <= limit ? value : nil
    }
}
