import GantryCore
import Glibc

/// An IPv4 or IPv6 address with port, as the kernel has it.
package struct SocketAddress: Sendable, CustomStringConvertible {
    private var storage = sockaddr_storage()
    private let length: socklen_t

    init?(_ pointer: UnsafePointer<sockaddr>?, length: socklen_t) {
        guard let pointer, Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
        self.length = length
        withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: Int(length)))
        }
    }

    /// What `getsockname`, `getpeername` or `accept` fills in; nil when that fails.
    init?(filledBy body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> CInt) {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
        guard status >= 0 else { return nil }
        self.length = length
    }

    var family: CInt { CInt(storage.ss_family) }

    func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// The address without port, with scope where it has one; an IPv4 address mapped into IPv6 as IPv4.
    package var host: String {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = withPointer {
            getnameinfo($0, $1, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        }
        guard status == 0 else { return "?" }
        let host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let mapped = "::ffff:"
        return host.hasPrefix(mapped) && host.contains(".") ? String(host.dropFirst(mapped.count)) : host
    }

    package var port: UInt16 {
        withUnsafeBytes(of: storage) { bytes in
            // sin_port and sin6_port stand at the same place, in network byte order.
            UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }

    /// The same host at another port.
    func with(port: UInt16) -> SocketAddress {
        var other = self
        withUnsafeMutableBytes(of: &other.storage) { bytes in
            bytes[2] = UInt8(port >> 8)
            bytes[3] = UInt8(port & 0xFF)
        }
        return other
    }

    /// An IPv4 address, also one that is mapped into IPv6.
    var isIPv4: Bool { family == AF_INET || host.utf8.contains(UInt8(ascii: ".")) }

    package var description: String { Endpoint(host: host, port: port).description }
}
