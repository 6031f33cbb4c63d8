import GantryCore
import GantryPlatform
import Glibc

/// Sockets of `MetricsServer`. None of them blocks or is inherited.
enum MetricsSocket {
    /// Listens at a numeric address, or localhost (IPv4). Says where: port 0 takes any.
    static func listen(_ endpoint: Endpoint) throws(SystemError) -> (FileDescriptor, Endpoint) {
        let host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host
        return host.contains(":") ? try listenIPv6(host, endpoint.port) : try listenIPv4(host, endpoint.port)
    }

    private static func listenIPv4(_ host: String, _ port: UInt16) throws(SystemError) -> (FileDescriptor, Endpoint) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            throw SystemError(errno: EINVAL, during: "inet_pton")
        }
        let socket = try make(AF_INET)
        try bind(socket, &address)
        try name(socket, &address)
        return (socket, Endpoint(host: host, port: UInt16(bigEndian: address.sin_port)))
    }

    private static func listenIPv6(_ host: String, _ port: UInt16) throws(SystemError) -> (FileDescriptor, Endpoint) {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        guard inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else {
            throw SystemError(errno: EINVAL, during: "inet_pton")
        }
        let socket = try make(AF_INET6)
        try bind(socket, &address)
        try name(socket, &address)
        return (socket, Endpoint(host: host, port: UInt16(bigEndian: address.sin6_port)))
    }

    private static func make(_ family: CInt) throws(SystemError) -> FileDescriptor {
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let socket = FileDescriptor(takingOwnership: try syscall("socket") { Glibc.socket(family, type, 0) })
        var one: CInt = 1
        setsockopt(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        return socket
    }

    private static func bind<Address>(_ socket: FileDescriptor, _ address: inout Address) throws(SystemError) {
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(socket.rawValue, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        try syscall("bind") { result }
        try syscall("listen") { Glibc.listen(socket.rawValue, 16) }
    }

    private static func name<Address>(_ socket: FileDescriptor, _ address: inout Address) throws(SystemError) {
        var size = socklen_t(MemoryLayout<Address>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.rawValue, $0, &size) }
        }
        try syscall("getsockname") { result }
    }

    /// Nil: nobody waits any more, or the kernel gives no descriptor (errno).
    static func accept(_ listener: FileDescriptor) -> FileDescriptor? {
        let accepted = Glibc.accept(listener.rawValue, nil, nil)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
        return FileDescriptor(takingOwnership: accepted)
    }
}
