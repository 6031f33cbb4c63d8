package import GantryCore
package import GantryPlatform
import Glibc

/// Opens a TCP connection: all addresses of the host at once, the first that answers is taken.
package enum TCPDialer {
    /// Blocks until connected or `deadline`; for a thread of its own. `cancel` (an eventfd) ends the wait.
    ///
    /// - Throws: `cannotConnect` with what the network said, `timeout`, `cancelled`.
    package static func dial(
        _ endpoint: Endpoint, until deadline: MediaTimestamp, cancel: EventDescriptor
    ) throws(GantryError) -> SocketLink {
        let addresses = try resolve(endpoint)
        var attempts: [(socket: FileDescriptor, address: SocketAddress)] = []
        var lastFailure: SystemError?
        for address in addresses {
            do throws(SystemError) {
                attempts.append((try begin(address), address))
            } catch {
                lastFailure = error
            }
        }
        while !attempts.isEmpty {
            let left = (deadline - MonotonicClock.now()).microseconds
            guard left > 0 else {
                throw GantryError(
                    .timeout, "\(endpoint) does not answer. Is the producer running there, and no firewall in between?")
            }
            var waiting = attempts.map { pollfd(fd: $0.socket.rawValue, events: Int16(POLLOUT), revents: 0) }
            waiting.append(pollfd(fd: cancel.rawValue, events: Int16(POLLIN), revents: 0))
            let wait = CInt(clamping: left / 1000 + 1)
            _ = waiting.withUnsafeMutableBufferPointer { poll($0.baseAddress, nfds_t($0.count), wait) }
            if waiting.last?.revents != 0 { throw GantryError(.cancelled, "The connection was cancelled.") }
            for index in attempts.indices.reversed() where waiting[index].revents != 0 {
                let attempt = attempts.remove(at: index)
                do throws(SystemError) {
                    return try finish(attempt.socket, attempt.address)
                } catch {
                    lastFailure = error
                }
            }
        }
        throw GantryError(
            .cannotConnect,
            "No connection to \(endpoint). Start the producer there (gantry-producer run), or check address and port.",
            cause: lastFailure?.reason)
    }

    private static func resolve(_ endpoint: Endpoint) throws(GantryError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else {
            throw GantryError(
                .cannotConnect,
                "The host \(DisplayName(endpoint.host).text) is not known. Check its name, or give its address.",
                cause: String(cString: gai_strerror(status)))
        }
        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry, addresses.count < 16 {
            if let address = SocketAddress(info.pointee.ai_addr, length: info.pointee.ai_addrlen) {
                addresses.append(address)
            }
            entry = info.pointee.ai_next
        }
        return addresses
    }

    private static func begin(_ address: SocketAddress) throws(SystemError) -> FileDescriptor {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = FileDescriptor(takingOwnership: try syscall("socket") { Glibc.socket(address.family, type, 0) })
        do throws(SystemError) {
            try syscall("connect") { address.withPointer { connect(socket.rawValue, $0, $1) } }
        } catch {
            if error.errno != EINPROGRESS { throw error }
        }
        return socket
    }

    private static func finish(_ socket: FileDescriptor, _ address: SocketAddress) throws(SystemError) -> SocketLink {
        var status: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        try syscall("getsockopt") { getsockopt(socket.rawValue, SOL_SOCKET, SO_ERROR, &status, &length) }
        if status != 0 { throw SystemError(errno: status, during: "connect") }
        return try SocketLink(takingOwnership: socket, peerAddress: address.description)
    }
}
