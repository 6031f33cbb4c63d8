import Glibc

/// The socket options of a media connection, in one place.
enum SocketOptions {
    /// Bytes that the kernel may hold unsent; more stays in our queues, where it can be seen, reordered and gated.
    static let notSentLowWater: CInt = 16 * 1024
    /// Milliseconds without acknowledgement after which the kernel gives the connection up (RFC 5482).
    static let userTimeout: CInt = 10_000

    /// Options that only TCP knows fail harmlessly on other sockets.
    static func setLowLatency(_ descriptor: CInt) {
        set(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
        set(descriptor, CInt(IPPROTO_TCP), TCP_NOTSENT_LOWAT, notSentLowWater)
        set(descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, userTimeout)
    }

    @discardableResult
    static func set(_ descriptor: CInt, _ level: CInt, _ name: CInt, _ value: CInt) -> Bool {
        var value = value
        return setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<CInt>.size)) == 0
    }
}
