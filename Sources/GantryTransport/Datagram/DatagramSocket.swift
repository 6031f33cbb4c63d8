import GantryCore
import GantryPlatform
import Glibc

/// A UDP socket of one session: at the address that the TLS connection has here, connected to the other end's host, so that the
/// kernel drops what comes from elsewhere. It does not block.
final class DatagramSocket: Sendable {
    private let socket: FileDescriptor
    private let path: DatagramPath
    /// The port that the kernel gave.
    let port: UInt16

    /// Bytes that the kernel may hold for a thread that is late: about 0.1 s of a fast stream.
    private static let room: CInt = 1 << 20

    /// - Throws: `general`.
    init(_ path: DatagramPath) throws(GantryError) {
        self.path = path
        do throws(SystemError) {
            let type = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let descriptor = try syscall("socket") { Glibc.socket(path.local.family, type, 0) }
            socket = FileDescriptor(takingOwnership: descriptor)
            SocketOptions.set(descriptor, SOL_SOCKET, SO_RCVBUF, Self.room)
            SocketOptions.set(descriptor, SOL_SOCKET, SO_SNDBUF, Self.room)
            // Never fragmented on the way; how much passes is found out by probes. Each fails harmlessly on the other family.
            SocketOptions.set(descriptor, CInt(IPPROTO_IP), IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
            SocketOptions.set(descriptor, CInt(IPPROTO_IPV6), IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE)
            try syscall("bind") { path.local.with(port: 0).withPointer { bind(descriptor, $0, $1) } }
            port = SocketAddress(filledBy: { getsockname(descriptor, $0, &$1) })?.port ?? 0
        } catch {
            throw GantryError(.general, "No UDP port can be opened.", cause: error.description)
        }
    }

    var rawValue: CInt { socket.rawValue }

    /// From now on only the other end's `port` is heard and spoken to.
    func connect(port: UInt16) throws(GantryError) {
        do throws(SystemError) {
            try syscall("connect") {
                path.remote.with(port: port).withPointer { Glibc.connect(socket.rawValue, $0, $1) }
            }
        } catch {
            throw GantryError(.cannotConnect, "The other end cannot be reached by UDP.", cause: error.description)
        }
    }

    /// Waits until something has come, `wake` is signalled (and cleared) or `deadline` has passed.
    func wait(until deadline: MediaTimestamp, or wake: EventDescriptor) {
        var set = (
            pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0)
        )
        let left = max(0, (deadline - MonotonicClock.now()).microseconds)
        withUnsafeMutablePointer(to: &set) { pointer in
            pointer.withMemoryRebound(to: pollfd.self, capacity: 2) {
                _ = poll($0, 2, CInt(clamping: (left + 999) / 1000))
            }
        }
        if set.1.revents != 0 { wake.clear() }
    }
}
