/// The buffers of a pipe: one block, cut into slots for both directions. The owner of the pipe decides who may touch a
/// slot: the kernel while it is posted, the link otherwise.
package final class BulkBuffers: @unchecked Sendable {  // `block` is set in `init`; its bytes are guarded by the link's lock.
    private let block: UnsafeMutableRawBufferPointer

    package init() {
        block = .allocate(
            byteCount: 2 * USBProtocol.transfersInFlight * USBProtocol.transferSize, alignment: 4096)
    }

    deinit { block.deallocate() }

    package func read(_ slot: Int) -> UnsafeMutableRawBufferPointer { piece(slot) }
    package func write(_ slot: Int) -> UnsafeMutableRawBufferPointer { piece(slot + USBProtocol.transfersInFlight) }

    private func piece(_ index: Int) -> UnsafeMutableRawBufferPointer {
        let start = index * USBProtocol.transferSize
        return UnsafeMutableRawBufferPointer(rebasing: block[start..<start + USBProtocol.transferSize])
    }
}
