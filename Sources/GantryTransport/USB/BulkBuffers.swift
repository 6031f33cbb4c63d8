/// The buffers of a pipe: one block, cut into slots for both directions. The owner of the pipe decides who may touch a
/// slot: the kernel while it is posted, the link otherwise.
package final class BulkBuffers: @unchecked Sendable {  // `block` and its bytes are guarded by the link's lock.
    package static let size = 2 * USBProtocol.transfersInFlight * USBProtocol.transferSize

    private var block: UnsafeMutableRawBufferPointer
    /// Gives memory back that is not ours.
    private var release: ((UnsafeMutableRawPointer) -> Void)?

    package init() { block = .allocate(byteCount: Self.size, alignment: 4096) }

    /// - Parameters:
    ///   - start: `size` bytes that somebody else has.
    ///   - release: called by `leave`.
    init(borrowing start: UnsafeMutableRawPointer, release: @escaping (UnsafeMutableRawPointer) -> Void) {
        block = UnsafeMutableRawBufferPointer(start: start, count: Self.size)
        self.release = release
    }

    deinit {
        // Borrowed memory that nobody has left stays with its owner.
        if release == nil { block.deallocate() }
    }

    /// Gives borrowed memory back; what is in the buffers stays readable. Nothing is posted.
    func leave() {
        guard let release, let start = block.baseAddress else { return }
        let own = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.size, alignment: 4096)
        own.copyMemory(from: UnsafeRawBufferPointer(block))
        block = own
        self.release = nil
        release(start)
    }

    package func read(_ slot: Int) -> UnsafeMutableRawBufferPointer { piece(slot) }
    package func write(_ slot: Int) -> UnsafeMutableRawBufferPointer { piece(slot + USBProtocol.transfersInFlight) }

    private func piece(_ index: Int) -> UnsafeMutableRawBufferPointer {
        let start = index * USBProtocol.transferSize
        return UnsafeMutableRawBufferPointer(rebasing: block[start..<start + USBProtocol.transferSize])
    }
}
