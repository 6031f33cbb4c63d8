package import GantryCore
package import GantryPlatform
import Glibc
import Synchronization

/// A `Link` over a stream socket.
package final class SocketLink: Link, @unchecked Sendable {  // As each property says.
    private let socket: FileDescriptor
    package let peerAddress: String
    private let isTCP: Bool
    /// Control messages need no hurry.
    private static let smallRead = 1000
    private let written = Atomic<UInt64>(0)
    private let lock = Lock()
    // Guarded by `lock`.
    private var losses = LossWatch()
    private var isLossy = false

    /// Takes a connected stream socket, makes it non-blocking and sets it up for low latency where it is TCP.
    package init(takingOwnership socket: FileDescriptor, peerAddress: String) throws(SystemError) {
        self.socket = socket
        self.peerAddress = peerAddress
        let flags = try syscall("fcntl(F_GETFL)") { fcntl(socket.rawValue, F_GETFL) }
        try syscall("fcntl(F_SETFL)") { fcntl(socket.rawValue, F_SETFL, flags | O_NONBLOCK) }
        isTCP = SocketOptions.setLowLatency(socket.rawValue)
    }

    package var pollDescriptor: CInt { socket.rawValue }
    package var roomEvents: CInt { POLLOUT }

    package var datagramPath: DatagramPath? {
        let descriptor = socket.rawValue
        guard let local = SocketAddress(filledBy: { getsockname(descriptor, $0, &$1) }),
            let remote = SocketAddress(filledBy: { getpeername(descriptor, $0, &$1) }),
            [AF_INET, AF_INET6].contains(local.family), local.family == remote.family
        else { return nil }
        return DatagramPath(local: local, remote: remote)
    }

    package var lossSample: RandomLossWatch.Sample? {
        var info = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(socket.rawValue, CInt(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 else { return nil }
        return RandomLossWatch.Sample(
            retransmissions: info.tcpi_total_retrans, roundTrip: MediaDuration(microseconds: Int64(info.tcpi_rtt)))
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> FileDescriptor.Transfer {
        let transfer = try socket.read(into: buffer)
        // Confirmed at once: a delayed confirmation (40 ms) looks like a queue to the other end. The kernel forgets it soon.
        if isTCP, case .bytes(let count) = transfer, count > Self.smallRead {
            SocketOptions.set(socket.rawValue, CInt(IPPROTO_TCP), TCP_QUICKACK, 1)
        }
        return transfer
    }

    package func write(_ buffer: UnsafeRawBufferPointer) throws(SystemError) -> FileDescriptor.Transfer {
        // Not write(2): a closed peer must be an error here, not a SIGPIPE for the whole process.
        do throws(SystemError) {
            let count = try syscall("send") {
                send(socket.rawValue, buffer.baseAddress, buffer.count, CInt(MSG_NOSIGNAL))
            }
            written.wrappingAdd(UInt64(clamping: count), ordering: .relaxed)
            return .bytes(count)
        } catch {
            if error.errno == EAGAIN || error.errno == EWOULDBLOCK { return .wouldBlock }
            throw error
        }
    }

    package var unconfirmedBytes: Int { isTCP ? TCPState.unconfirmedBytes(socket.rawValue) : 0 }

    package func measure() -> LinkMeasure? {
        guard isTCP else { return nil }
        // In this order: what is written in between counts as not confirmed.
        let written = written.load(ordering: .relaxed)
        let unconfirmed = unconfirmedBytes
        let path = TCPState.path(socket.rawValue)
        if let path { watchLosses(path.retransmitted) }
        return LinkMeasure(
            confirmed: written - min(written, UInt64(unconfirmed)), unconfirmed: unconfirmed,
            roundTrip: path?.roundTrip)
    }

    private func watchLosses(_ retransmitted: UInt32) {
        let isNews = lock.withLock { () -> Bool in
            guard !isLossy else { return false }
            isLossy = losses.add(retransmitted: retransmitted, now: MonotonicClock.now())
            return isLossy
        }
        if isNews { SocketOptions.setCongestionControl(socket.rawValue, isLossy: true) }
    }

    package func finishWriting() { shutdown(socket.rawValue, CInt(SHUT_WR)) }
    package func close() { shutdown(socket.rawValue, CInt(SHUT_RDWR)) }

    /// Two ends in one process, through the kernel's socket pair: the same code path as TCP without a network.
    ///
    /// - Parameter sendBuffer: bytes that may wait from the first end to the second (SO_SNDBUF), or nil for the
    ///   kernel's own choice.
    package static func pair(
        sendBuffer: Int? = nil, peerAddress: String = "pair:b"
    ) throws(SystemError) -> (SocketLink, SocketLink) {
        var descriptors: [CInt] = [-1, -1]
        try syscall("socketpair") {
            socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &descriptors)
        }
        let ends = descriptors.map { FileDescriptor(takingOwnership: $0) }
        if let sendBuffer {
            var size = CInt(clamping: sendBuffer)
            try syscall("setsockopt(SO_SNDBUF)") {
                setsockopt(
                    ends[0].rawValue, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
            }
        }
        return (
            try SocketLink(takingOwnership: ends[0], peerAddress: peerAddress),
            try SocketLink(takingOwnership: ends[1], peerAddress: "pair:a")
        )
    }
}
