package import GantryCore
import GantryPlatform
import Glibc

/// Accepts TCP connections on a thread of its own, on all addresses of this machine, IPv6 and IPv4.
package final class TCPListener: @unchecked Sendable {  // `thread` is set once in `start`, before anyone joins.
    private let socket: FileDescriptor
    private let stopping: EventDescriptor
    private var thread: NamedThread?
    /// The port that the kernel gave, where 0 was asked for.
    package let port: UInt16

    /// - Throws: `portInUse`, which says how to find who has it, or `general`.
    package init(port: UInt16) throws(GantryError) {
        stopping = try EventDescriptor()
        do throws(SystemError) {
            do throws(SystemError) {
                socket = try Self.open(family: AF_INET6, port: port)
            } catch {
                // A machine without IPv6.
                guard error.errno == EAFNOSUPPORT || error.errno == EADDRNOTAVAIL else { throw error }
                socket = try Self.open(family: AF_INET, port: port)
            }
        } catch {
            if error.errno == EADDRINUSE {
                throw GantryError(
                    .portInUse,
                    "Port \(port) is in use. Stop the other program (ss -ltnp 'sport = :\(port)' shows it), or take another port.",
                    cause: error.reason)
            }
            if error.errno == EACCES {
                throw GantryError(
                    .portInUse, "Port \(port) is reserved for root. Take one from 1024 on.",
                    cause: error.reason)
            }
            throw GantryError(.general, "Port \(port) cannot be opened.", cause: error.description)
        }
        let descriptor = socket.rawValue
        self.port = SocketAddress(filledBy: { getsockname(descriptor, $0, &$1) })?.port ?? port
    }

    private static func open(family: CInt, port: UInt16) throws(SystemError) -> FileDescriptor {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = FileDescriptor(takingOwnership: try syscall("socket") { Glibc.socket(family, type, 0) })
        SocketOptions.set(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, 1)
        if family == AF_INET6 {
            SocketOptions.set(socket.rawValue, CInt(IPPROTO_IPV6), IPV6_V6ONLY, 0)
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            try bind(socket, &address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            try bind(socket, &address)
        }
        try syscall("listen") { listen(socket.rawValue, 64) }
        return socket
    }

    private static func bind<Address>(_ socket: FileDescriptor, _ address: inout Address) throws(SystemError) {
        try syscall("bind") {
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.bind(socket.rawValue, $0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }
    }

    /// Begins to accept. `accepted` runs on the listener's thread and must be quick; it gets the link and the peer's
    /// host, without port.
    package func start(
        threadName: String, accepted: @escaping @Sendable (SocketLink, String) -> Void
    ) throws(GantryError) {
        thread = try NamedThread(threadName) { [self] in run(accepted) }
    }

    private func run(_ accepted: (SocketLink, String) -> Void) {
        var waiting = [
            pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopping.rawValue, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            _ = waiting.withUnsafeMutableBufferPointer { poll($0.baseAddress, nfds_t($0.count), -1) }
            if waiting[1].revents != 0 { return }
            var descriptor: CInt = -1
            let address = SocketAddress(filledBy: { pointer, length in
                descriptor = accept(socket.rawValue, pointer, &length)
                return descriptor
            })
            guard let address else {
                // Out of descriptors or memory: the connection stays in the backlog. Do not spin on it.
                if errno != EAGAIN && errno != EINTR && errno != ECONNABORTED {
                    MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
                }
                continue
            }
            let connection = FileDescriptor(takingOwnership: descriptor)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            do throws(SystemError) {
                accepted(
                    try SocketLink(takingOwnership: connection, peerAddress: address.description), address.host)
            } catch {
                Log.debug("a connection ended before it was taken: \(error)")
            }
        }
    }

    /// Ends the thread and refuses who comes from now on; the port is free once the listener is released.
    package func stop() {
        stopping.signal()
        thread?.join()
        shutdown(socket.rawValue, CInt(SHUT_RDWR))
    }
}
