package import GantryCore

/// One coded packet (an access unit, a JPEG, an Opus packet) with its header, in memory that is used again.
///
/// Filled by the one thread that took it from its pool; from the moment it is passed on, nobody writes to it any
/// more. Behind the payload stand `padding` zero bytes (libavcodec reads past the end).
package final class MediaPacket: @unchecked Sendable {  // Written by its one owner before it is shared, then read only.
    /// AV_INPUT_BUFFER_PADDING_SIZE of libavcodec/defs.h.
    package static let padding = 64

    package var header = MediaHeader()
    package var codec = MediaCodec.h264
    /// How long the packet lasts, or zero when unknown.
    package var duration = MediaDuration.zero
    /// When the last byte arrived (receiver) or left the encoder (sender), on this machine's clock.
    package var arrivalTime = MediaTimestamp(microseconds: 0)
    package private(set) var count = 0
    private var storage: UnsafeMutableRawPointer
    private var capacity: Int

    package init(capacity: Int = 32 * 1024) {
        self.capacity = max(capacity, 64)
        storage = .allocate(byteCount: self.capacity + Self.padding, alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
    }

    deinit { storage.deallocate() }

    /// The payload. Valid while the packet is held.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

    package func removeAll() {
        count = 0
        storage.initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
    }

    /// Appends; the memory grows by doubling, and stays for the next packet.
    package func append(_ source: UnsafeRawBufferPointer) {
        guard let base = source.baseAddress, source.count > 0 else { return }
        if count + source.count > capacity {
            let larger = max(capacity * 2, count + source.count)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: larger + Self.padding, alignment: 16)
            memory.copyMemory(from: storage, byteCount: count)
            storage.deallocate()
            storage = memory
            capacity = larger
        }
        (storage + count).copyMemory(from: base, byteCount: source.count)
        count += source.count
        (storage + count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
    }
}
