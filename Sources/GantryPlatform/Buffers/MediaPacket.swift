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

    /// Bytes that a packet keeps for the next one; an access unit of 25 Mbit/s at 30 frames a second has 100 KB.
    package static let keptCapacity = 512 * 1024
    private let initialCapacity: Int

    package init(capacity: Int = 32 * 1024) {
        self.capacity = max(capacity, 64)
        initialCapacity = self.capacity
        storage = .allocate(byteCount: self.capacity + Self.padding, alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
    }

    deinit { storage.deallocate() }

    /// The payload. Valid while the packet is held.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

    /// Makes the packet empty. Memory beyond what normal packets need is given back, so that one huge packet of a peer
    /// is not held for ever.
    package func removeAll() {
        count = 0
        if capacity > Self.keptCapacity { replaceStorage(capacity: initialCapacity) }
        storage.initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
    }

    /// Appends; the memory grows by doubling, and stays for the next packet.
    package func append(_ source: UnsafeRawBufferPointer) {
        guard let base = source.baseAddress, source.count > 0 else { return }
        if count + source.count > capacity {
            replaceStorage(capacity: max(capacity * 2, count + source.count))
        }
        (storage + count).copyMemory(from: base, byteCount: source.count)
        count += source.count
        (storage + count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
    }

    private func replaceStorage(capacity new: Int) {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: new + Self.padding, alignment: 16)
        memory.copyMemory(from: storage, byteCount: min(count, new))
        storage.deallocate()
        storage = memory
        capacity = new
    }
}
