package import GantryCore

/// A pair of bulk endpoints, one for each direction, with transfers that complete by themselves.
///
/// There are `USBProtocol.transfersInFlight` slots for each direction, each with a buffer of `USBProtocol.transferSize`
/// bytes. `BulkLink` calls all of it under its lock.
package protocol BulkPipe: AnyObject, Sendable {
    /// For the endpoint that is written to.
    var rules: BulkRules { get }
    /// For `poll` with POLLIN: `collect` has something to do, or `wake` was called.
    var pollDescriptor: CInt { get }
    /// Makes `pollDescriptor` readable until the next `collect`. Also after `close`.
    func wake()

    func readBuffer(_ slot: Int) -> UnsafeMutableRawBufferPointer
    func writeBuffer(_ slot: Int) -> UnsafeMutableRawBufferPointer

    /// Posts a read of the whole buffer. The slot is free: never posted, or completed.
    func postRead(_ slot: Int) throws(GantryError)
    /// Posts a write of the first `count` bytes of the buffer.
    func postWrite(_ slot: Int, count: Int) throws(GantryError)

    /// Hands out what is complete, without waiting.
    ///
    /// - Throws: `peerLost` when the other end has gone, `usbTransfer`.
    func collect(_ completed: (BulkCompletion) -> Void) throws(GantryError)

    /// Tells the other end that no more than these bytes come, where there is a way.
    func finish(sent: UInt64)
    /// Takes back what is posted. Afterwards no buffer is with the kernel: what has come can still be read from them. Only
    /// `wake` is called then.
    func close()
}

package enum BulkCompletion: Hashable, Sendable {
    case read(slot: Int, count: Int)
    case write(slot: Int)
}
