import Glibc

/// The socket options of a media connection, in one place.
enum SocketOptions {
    /// Bytes that the kernel may hold unsent; more stays in our queues, where it can be seen, reordered and gated.
    static let notSentLowWater: CInt = 16 * 1024
    /// Milliseconds without acknowledgement after which the kernel gives the connection up (RFC 5482).
    static let userTimeout: CInt = 10_000

    /// TCP_RTO_MAX_MS (Linux 6.15; <linux/tcp.h>): the longest wait until a segment is sent again. After an outage of two
    /// seconds a doubled timer would otherwise let another one pass.
    static let longestRetransmission: (name: CInt, milliseconds: CInt) = (44, 1000)

    /// Options that only TCP knows fail harmlessly on other sockets, and those of a newer kernel on this one.
    ///
    /// - Returns: whether it is TCP.
    static func setLowLatency(_ descriptor: CInt) -> Bool {
        let isTCP = set(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
        set(descriptor, CInt(IPPROTO_TCP), longestRetransmission.name, longestRetransmission.milliseconds)
        setCongestionControl(descriptor, isLossy: false)
        set(descriptor, CInt(IPPROTO_TCP), TCP_NOTSENT_LOWAT, notSentLowWater)
        set(descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, userTimeout)
        return isTCP
    }

    /// Cubic, until the link turns out to lose packets at random; then BBR, which does not take a loss for congestion, where cubic
    /// halves its window each time. BBR is not for all links: every ten seconds it sends four packets a round trip
    /// for 200 ms, to measure the way, and pictures of that time are late. Where the system does not allow one of them, it
    /// stays as it is.
    static func setCongestionControl(_ descriptor: CInt, isLossy: Bool) {
        let name = isLossy ? "bbr" : "cubic"
        _ = name.withCString {
            setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_CONGESTION, $0, socklen_t(name.utf8.count))
        }
    }

    @discardableResult
    static func set(_ descriptor: CInt, _ level: CInt, _ name: CInt, _ value: CInt) -> Bool {
        var value = value
        return setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<CInt>.size)) == 0
    }
}
