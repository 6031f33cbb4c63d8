import GantryCore
package import GantryPlatform
import Glibc

/// A plain TCP connection to this machine, for peers that are no Gantry.
package final class LoopbackSocket: Sendable {
    private let socket: FileDescriptor

    /// Connects; blocks for a moment.
    package init(port: UInt16) throws(SystemError) {
        let descriptor = try syscall("socket") {
            Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
        socket = FileDescriptor(takingOwnership: descriptor)
        _ = try syscall("connect") {
            Self.withAddress(port: port) { connect(descriptor, $0, $1) }
        }
    }

    /// False once the other end has closed.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        send(socket.rawValue, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
    }

    /// Whether the other end closes within that many milliseconds. Blocks.
    package func isClosed(within milliseconds: Int64) -> Bool {
        let end = MonotonicClock.now() + .milliseconds(milliseconds)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while MonotonicClock.now() < end {
            var waiting = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 100) > 0 else { continue }
            if recv(socket.rawValue, &buffer, buffer.count, 0) <= 0 { return true }
        }
        return false
    }

    /// A port that is free now, below those that the kernel gives to outgoing connections (from 32768 on,
    /// net.ipv4.ip_local_port_range): no connection of another test can take it before it is used.
    package static func freePort() throws(SystemError) -> UInt16 {
        var last = SystemError(errno: EADDRINUSE, during: "bind")
        for _ in 0..<100 {
            let port = UInt16.random(in: 20_000..<32_000)
            let descriptor = FileDescriptor(
                takingOwnership: try syscall("socket") {
                    Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                })
            do throws(SystemError) {
                _ = try syscall("bind") { withAddress(port: port) { bind(descriptor.rawValue, $0, $1) } }
                return port
            } catch {
                last = error
            }
        }
        throw last
    }

    private static func withAddress(
        port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
