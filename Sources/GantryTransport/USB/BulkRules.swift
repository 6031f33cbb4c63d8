/// How a byte stream goes over bulk endpoints without packets of no length.
///
/// A read is always posted with 16384 bytes. It ends when it is full, or at a packet that is shorter than
/// `wMaxPacketSize`. So a write is either exactly 16384 bytes, or no multiple of the packet size: then its last packet
/// is short. Either way each write ends one read, and nothing waits for an end that does not come.
package struct BulkRules: Hashable, Sendable {
    /// `wMaxPacketSize` of the endpoint: 64, 512 or 1024 in practice.
    package let packetSize: Int

    /// Nil for a size that no bulk endpoint has: a power of two from 8 to 1024 (USB 2.0, 5.8.3; USB 3.2, 8.12.1).
    package init?(packetSize: Int) {
        guard (8...1024).contains(packetSize), packetSize & (packetSize - 1) == 0 else { return nil }
        self.packetSize = packetSize
    }

    /// Of `count` bytes that wait (at most 16384 are looked at), how many the next write takes. The rest, one byte at
    /// most, goes with the next.
    package func writable(_ count: Int) -> Int {
        guard count > 0 else { return 0 }
        guard count < USBProtocol.transferSize else { return USBProtocol.transferSize }
        return count & (packetSize - 1) == 0 ? count - 1 : count
    }

    /// Whether a write of that size keeps the rule.
    package func allows(_ count: Int) -> Bool { count > 0 && writable(count) == count }
}
