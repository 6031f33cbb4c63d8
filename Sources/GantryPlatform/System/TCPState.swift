import CLinux
package import GantryCore
import Glibc

/// What the kernel knows of a TCP connection's way. Any thread, while the socket is open.
package enum TCPState {
    /// Bytes that the other end has not confirmed: those that wait in the kernel, and those on their way. 0 where the kernel
    /// does not say.
    package static func unconfirmedBytes(_ socket: CInt) -> Int {
        var count: CInt = 0
        // SIOCOUTQ, which has the number of TIOCOUTQ (tcp(7)).
        guard ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return 0 }
        return max(0, Int(count))
    }

    /// The smoothed round trip (nil before the first), and the segments that were sent again; nil where it is not told.
    package static func path(_ socket: CInt) -> (roundTrip: MediaDuration?, retransmitted: UInt32)? {
        var info = CLinux_tcp_info()
        var length = socklen_t(MemoryLayout<CLinux_tcp_info>.size)
        guard getsockopt(socket, CInt(IPPROTO_TCP), TCP_INFO, &info, &length) == 0,
            length >= MemoryLayout<CLinux_tcp_info>.size
        else { return nil }
        return (info.rtt > 0 ? MediaDuration(microseconds: Int64(info.rtt)) : nil, info.total_retrans)
    }
}
