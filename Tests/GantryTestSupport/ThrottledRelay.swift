import GantryCore
import GantryPlatform
import Glibc

/// A TCP relay on this machine that lets so many bits a second pass from the server to the client: a slow link for the two
/// ends of a session in one process. It takes one connection.
///
/// One thread, "relay", until `stop` or the end of either side.
package final class ThrottledRelay: @unchecked Sendable {  // `rate` is guarded by `lock`; sockets: the relay's thread.
    package let port: UInt16
    private let target: UInt16
    private let listener: FileDescriptor
    private let stopping: EventDescriptor
    private let lock = Lock()
    private var rate: Int
    private var thread: NamedThread?
    /// Bytes that the relay and its sockets hold at most: more would be a queue that no end sees.
    private static let room = 8 * 1024

    /// - Parameters:
    ///   - target: the server's port.
    ///   - rate: bits a second from the server to the client.
    package init(to target: UInt16, rate: Int) throws {
        self.target = target
        self.rate = rate
        stopping = try EventDescriptor()
        port = try LoopbackSocket.freePort()
        let descriptor = try syscall("socket") { socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) }
        listener = FileDescriptor(takingOwnership: descriptor)
        let own = port
        _ = try syscall("bind") { Self.withAddress(own) { bind(descriptor, $0, $1) } }
        _ = try syscall("listen") { listen(descriptor, 1) }
        thread = try NamedThread("relay") { [self] in run() }
    }

    package func setRate(_ new: Int) { lock.withLock { rate = new } }

    /// Ends the thread and both connections.
    package func stop() {
        stopping.signal()
        thread?.join()
        thread = nil
    }

    private func run() {
        guard let client = accepted(), let server = connected() else { return }
        var allowance = 0.0
        var last = MonotonicClock.now()
        var buffer = [UInt8](repeating: 0, count: Self.room)
        while true {
            let now = MonotonicClock.now()
            // Two milliseconds at most are made up for.
            let rate = lock.withLock { self.rate }
            allowance = min(allowance + (now - last).seconds * Double(rate) / 8, max(Double(rate) / 8 * 0.01, 1500))
            last = now
            var waiting = [
                pollfd(fd: client.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server.rawValue, events: allowance >= 1 ? Int16(POLLIN) : 0, revents: 0),
                pollfd(fd: stopping.rawValue, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waiting, 3, 1) >= 0, waiting[2].revents == 0 else { return }
            if waiting[0].revents != 0, move(client, to: server, &buffer, limit: buffer.count) == nil { return }
            if waiting[1].revents != 0 {
                guard let count = move(server, to: client, &buffer, limit: Int(allowance)) else { return }
                allowance -= Double(count)
            }
        }
    }

    /// Nil at the end of either side.
    private func move(
        _ from: FileDescriptor, to: FileDescriptor, _ buffer: inout [UInt8], limit: Int
    ) -> Int? {
        let count = recv(from.rawValue, &buffer, max(1, min(limit, buffer.count)), 0)
        guard count > 0 else { return nil }
        var sent = 0
        while sent < count {
            let some = buffer.withUnsafeBytes {
                send(to.rawValue, $0.baseAddress.map { $0 + sent }, count - sent, CInt(MSG_NOSIGNAL))
            }
            guard some > 0 else { return nil }
            sent += some
        }
        return count
    }

    private func accepted() -> FileDescriptor? {
        var waiting = [
            pollfd(fd: listener.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopping.rawValue, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&waiting, 2, -1) > 0, waiting[1].revents == 0 else { return nil }
        let descriptor = accept(listener.rawValue, nil, nil)
        return descriptor < 0 ? nil : prepared(descriptor)
    }

    private func connected() -> FileDescriptor? {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let result = prepared(descriptor)
        return Self.withAddress(target) { connect(descriptor, $0, $1) } == 0 ? result : nil
    }

    /// Small buffers, before the connection is made where that counts.
    private func prepared(_ descriptor: CInt) -> FileDescriptor {
        for (level, name, value) in [
            (SOL_SOCKET, SO_RCVBUF, CInt(Self.room)), (CInt(IPPROTO_TCP), TCP_NODELAY, CInt(1)),
        ] {
            var value = value
            setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<CInt>.size))
        }
        return FileDescriptor(takingOwnership: descriptor)
    }

    private static func withAddress(
        _ port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> CInt
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
