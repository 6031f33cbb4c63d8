package import GantryCore
package import GantryPlatform
import Glibc

/// Opens a TCP connection to one host: all its addresses at once, the first that answers is taken.
package enum TCPDialer {
    /// Blocks until connected or `deadline`; for a thread of its own. `cancel` (an eventfd) ends the wait.
    ///
    /// - Throws: `cannotConnect` with what the network said, `timeout`, `cancelled`.
    package static func dial(
        _ endpoint: Endpoint, until deadline: MediaTimestamp, cancel: EventDescriptor
    ) throws(GantryError) -> SocketLink {
        let race = try DialRace()
        race.add([endpoint])
        race.complete()
        var link: SocketLink?
        var failure: GantryError?
        race.run(until: deadline, limit: deadline - MonotonicClock.now(), cancel: cancel) { _, outcome in
            switch outcome {
            case .connected(let made): link = made
            case .failed(let error): failure = error
            }
            return link == nil
        }
        if let link { return link }
        if let failure { throw failure }
        throw MonotonicClock.now() < deadline
            ? GantryError(.cancelled, "The connection was cancelled.") : noAnswer(endpoint)
    }

    // MARK: The steps, for `DialRace`

    static func noAnswer(_ endpoint: Endpoint) -> GantryError {
        GantryError(
            .timeout, "\(endpoint) does not answer. Is the producer running there, and no firewall in between?")
    }

    static func resolve(_ endpoint: Endpoint) throws(GantryError) -> [SocketAddress] {
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

    static func begin(_ address: SocketAddress, of endpoint: Endpoint) throws(GantryError) -> FileDescriptor {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        do throws(SystemError) {
            let socket = FileDescriptor(
                takingOwnership: try syscall("socket") { Glibc.socket(address.family, type, 0) })
            do throws(SystemError) {
                try syscall("connect") { address.withPointer { connect(socket.rawValue, $0, $1) } }
            } catch {
                if error.errno != EINPROGRESS { throw error }
            }
            return socket
        } catch {
            throw refused(endpoint, error)
        }
    }

    static func finish(
        _ socket: FileDescriptor, _ address: SocketAddress, of endpoint: Endpoint
    ) throws(GantryError) -> SocketLink {
        do throws(SystemError) {
            var status: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            try syscall("getsockopt") { getsockopt(socket.rawValue, SOL_SOCKET, SO_ERROR, &status, &length) }
            if status != 0 { throw SystemError(errno: status, during: "connect") }
            return try SocketLink(takingOwnership: socket, peerAddress: address.description)
        } catch {
            throw refused(endpoint, error)
        }
    }

    private static func refused(_ endpoint: Endpoint, _ error: SystemError) -> GantryError {
        GantryError(
            .cannotConnect,
            "No connection to \(endpoint). Start the producer there (gantry-producer run), or check address and port.",
            cause: error.reason)
    }
}
