import GantryPlatform

/// A piece of memory that holds the bytes of many packets. Free again when no packet in it is held.
final class ReplayChunk: @unchecked Sendable {  // Written under the buffer's lock; what has been written is read only.
    static let capacity = 256 * 1024

    private let memory: UnsafeMutableRawPointer
    let capacity: Int
    private(set) var used = 0

    init(capacity: Int = ReplayChunk.capacity) {
        self.capacity = capacity
        memory = .allocate(byteCount: max(1, capacity), alignment: 16)
    }

    deinit { memory.deallocate() }

    /// It has come out of the pool: nobody reads it any more.
    func removeAll() { used = 0 }

    /// Where the bytes are; nil when they do not fit.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count <= capacity - used else { return nil }
        let offset = used
        if let source = bytes.baseAddress { (memory + offset).copyMemory(from: source, byteCount: bytes.count) }
        used += bytes.count
        return offset
    }

    /// Valid while the chunk is held.
    func bytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory + offset, count: count)
    }
}
