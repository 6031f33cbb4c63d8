import GantryCore
import GantryPlatform
import Glibc

/// What both ends of the control socket do with the kernel.
enum ControlSocket {
    static func make() throws(SystemError) -> FileDescriptor {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return FileDescriptor(takingOwnership: try syscall("socket") { socket(AF_UNIX, type, 0) })
    }

    static func bind(_ socket: FileDescriptor, to name: String, in folder: ControlFolder) throws(SystemError) {
        try withAddress(name, folder) { (address, length) throws(SystemError) in
            _ = try syscall("bind") { Glibc.bind(socket.rawValue, address, length) }
        }
    }

    /// Nil when nobody listens there: no such file, or one that a dead process has left. Waits for a moment when many
    /// connect at once.
    ///
    /// - Throws: EAGAIN when the queue of newcomers was full for all of `ControlLimits.queueTime`.
    static func connect(to name: String, in folder: ControlFolder) throws(SystemError) -> FileDescriptor? {
        let socket = try make()
        // A socket that does not block fails at once where the queue is full (unix(7), connect(2)).
        let flags = fcntl(socket.rawValue, F_GETFL)
        _ = fcntl(socket.rawValue, F_SETFL, flags & ~O_NONBLOCK)
        defer { _ = fcntl(socket.rawValue, F_SETFL, flags) }
        var limit = timeval(tv_sec: Int(ControlLimits.queueTime.microseconds / 1_000_000), tv_usec: 0)
        setsockopt(socket.rawValue, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        do throws(SystemError) {
            try withAddress(name, folder) { (address, length) throws(SystemError) in
                _ = try syscall("connect") { Glibc.connect(socket.rawValue, address, length) }
            }
        } catch {
            if error.errno == ENOENT || error.errno == ECONNREFUSED { return nil }
            throw error
        }
        return socket
    }

    /// Who holds the other end, as the kernel knows it (unix(7), SO_PEERCRED).
    static func peerUser(of socket: FileDescriptor) -> uid_t? {
        // struct ucred: pid, uid, gid, 32 bits each; Glibc's module leaves it out.
        var credentials: [UInt32] = [0, 0, 0]
        var length = socklen_t(12)
        guard getsockopt(socket.rawValue, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == 12 else {
            return nil
        }
        return credentials[1]
    }

    /// Our own user and root are trusted.
    static func isTrusted(_ socket: FileDescriptor) -> Bool {
        guard let user = peerUser(of: socket) else { return false }
        return user == geteuid() || user == 0
    }

    /// Waits for one of `events`; false at `deadline`. An error of the socket counts as an event.
    static func wait(_ socket: FileDescriptor, for events: CInt, until deadline: MediaTimestamp?) -> Bool {
        while true {
            var waiting = pollfd(fd: socket.rawValue, events: Int16(truncatingIfNeeded: events), revents: 0)
            var timeout: CInt = -1
            if let deadline {
                let left = (deadline - MonotonicClock.now()).microseconds
                if left <= 0 { return false }
                timeout = CInt(clamping: (left + 999) / 1000)
            }
            if poll(&waiting, 1, timeout) > 0 { return true }
        }
    }

    /// All of it before `deadline`; false when that failed.
    static func send(_ bytes: [UInt8], to socket: FileDescriptor, until deadline: MediaTimestamp) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    socket.rawValue, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, CInt(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                guard wait(socket, for: CInt(POLLOUT), until: deadline) else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// The path itself where it fits; a longer one through the descriptor of its folder.
    private static func withAddress(
        _ name: String, _ folder: ControlFolder,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
    ) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        var path = Array("\(folder.path)/\(name)".utf8)
        // With the zero at its end: 108 bytes (unix(7)).
        if path.count >= room { path = Array("/proc/self/fd/\(folder.descriptor.rawValue)/\(name)".utf8) }
        guard path.count < room else { throw SystemError(errno: ENAMETOOLONG, during: "bind") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Result { () throws(SystemError) in
                    try body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        try result.get()
    }
}
