import CLinux
import Glibc

/// Sends and receives several datagrams in one call of the kernel (sendmmsg, recvmmsg), on a connected UDP socket that does not
/// block. Nothing is allocated after `init`. One thread.
package final class DatagramBatch {
    package static let capacity = CLinux_batch

    private let vectors: UnsafeMutablePointer<iovec>
    private let memory: UnsafeMutableRawBufferPointer
    private let size: Int

    /// - Parameter size: of the largest datagram that is received.
    package init(size: Int) {
        self.size = size
        vectors = .allocate(capacity: Self.capacity)
        vectors.initialize(repeating: iovec(), count: Self.capacity)
        memory = .allocate(byteCount: size * Self.capacity, alignment: 16)
    }

    deinit {
        vectors.deallocate()
        memory.deallocate()
    }

    /// Puts a datagram into the batch at `index`; its bytes must stay where they are until `send`.
    package func set(_ index: Int, _ datagram: UnsafeRawBufferPointer) {
        guard (0..<Self.capacity).contains(index) else { return }
        vectors[index] = iovec(
            iov_base: UnsafeMutableRawPointer(mutating: datagram.baseAddress), iov_len: datagram.count)
    }

    /// Sends the first `count`. How many the kernel took; 0 when it has no room, nil for an error (errno).
    package func send(_ count: Int, on socket: CInt) -> Int? {
        let sent = CLinux_send_batch(socket, vectors, UInt32(clamping: count))
        if sent >= 0 { return Int(sent) }
        return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : nil
    }

    /// Receives what is there, and calls `body` with each datagram, which it may write over. How many came; 0 when there was
    /// none, nil for an error (errno).
    package func receive(on socket: CInt, _ body: (UnsafeMutableRawBufferPointer) -> Void) -> Int? {
        for index in 0..<Self.capacity {
            vectors[index] = iovec(iov_base: memory.baseAddress.map { $0 + index * size }, iov_len: size)
        }
        let received = CLinux_receive_batch(socket, vectors, UInt32(Self.capacity))
        guard received >= 0 else { return errno == EAGAIN || errno == EINTR ? 0 : nil }
        for index in 0..<Int(received) where vectors[index].iov_len > 0 {
            body(UnsafeMutableRawBufferPointer(start: vectors[index].iov_base, count: vectors[index].iov_len))
        }
        return Int(received)
    }
}
