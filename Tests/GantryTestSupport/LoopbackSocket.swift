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
            Self.withAddress(port: port) { connect(descriptor, $0, $1) }.result
        }
    }

    /// False once the other end has closed.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        send(socket.rawValue, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
    }

    /// A port that is free now.
    package static func freePort() throws(SystemError) -> UInt16 {
        let descriptor = FileDescriptor(
            takingOwnership: try syscall("socket") {
                Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            })
        _ = try syscall("bind") { withAddress(port: 0) { bind(descriptor.rawValue, $0, $1) }.result }
        return withAddress(port: 0) { pointer, length in
            var length = length
            return getsockname(descriptor.rawValue, pointer, &length)
        }.port
    }

    private static func withAddress(
        port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> CInt
    ) -> (result: CInt, port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return (result, UInt16(bigEndian: address.sin_port))
    }
}
