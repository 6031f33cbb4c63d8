/// A host's name or address with a port, as people write it: "studio.local:7787", "192.168.1.5:7787",
/// "[fe80::1%eth0]:7787".
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Without brackets; an IPv6 address may carry a zone (`fe80::1%eth0`).
    public var host: String
    /// Of TCP.
    public var port: UInt16

    /// The producer's streaming port where nothing else is said.
    public static let defaultPort: UInt16 = 7787

    /// A name or address, without brackets.
    public init(host: String, port: UInt16 = Self.defaultPort) {
        self.host = host
        self.port = port
    }

    /// From `name:port`, `1.2.3.4:port`, `[::1]:port`. Without a port, `defaultPort` is taken; nil when there is none.
    ///
    /// The host is only checked for characters that no name or address has; resolving it decides.
    public init?(text: String, defaultPort: UInt16? = nil) {
        guard text.utf8.count <= 320 else { return nil }
        let host: Substring
        let tail: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            tail = text[text.index(after: end)...]
            guard host.contains(":") else { return nil }
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            host = text[..<colon]
            tail = text[colon...]
        }
        guard 1...255 ~= host.utf8.count, host.utf8.allSatisfy(Self.isHostByte) else { return nil }
        if tail.isEmpty {
            guard let defaultPort else { return nil }
            self.init(host: String(host), port: defaultPort)
            return
        }
        guard tail.first == ":", !tail.dropFirst().isEmpty,
            tail.dropFirst().utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = UInt16(tail.dropFirst()), port > 0
        else { return nil }
        self.init(host: String(host), port: port)
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Letters, digits, `-`, `_`, `.`, and for IPv6 `:` and `%`; bytes from 0x80 on for names beyond ASCII.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "%"): true
        default: false
        }
    }
}
