package import GantryCore
package import GantryPlatform

/// An ordered, reliable byte stream in both directions, not blocking: TCP, a socket pair, USB.
///
/// One thread reads and writes; `close` may come from any thread and wakes it.
package protocol Link: AnyObject, Sendable {
    /// For `poll`: POLLIN when `read` has something, `roomEvents` when `write` has room.
    var pollDescriptor: CInt { get }
    /// What to wait for when `write` had no room: POLLOUT, or POLLIN for a link whose descriptor tells of both by it. Then
    /// `read` has to follow as well: it may be that, and only reading makes the descriptor quiet.
    var roomEvents: CInt { get }
    /// The other end for people: "192.168.1.5:7787".
    var peerAddress: String { get }
    /// Where datagrams can go between the same two hosts; nil where there are none: on a cable, in a test.
    var datagramPath: DatagramPath? { get }
    /// How the kernel's TCP does; nil where there is none.
    var lossSample: RandomLossWatch.Sample? { get }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> FileDescriptor.Transfer
    func write(_ buffer: UnsafeRawBufferPointer) throws(SystemError) -> FileDescriptor.Transfer
    /// Bytes that were written and that the other end has not confirmed. Any thread.
    var unconfirmedBytes: Int { get }
    /// What the system knows of what was written; nil where it knows nothing. Any thread.
    func measure() -> LinkMeasure?
    /// Nothing more will be written; the other end sees the end of the stream.
    func finishWriting()
    /// Ends both directions at once; what was written before still goes out.
    func close()
}

extension Link {
    package var datagramPath: DatagramPath? { nil }
    package var lossSample: RandomLossWatch.Sample? { nil }
    package var unconfirmedBytes: Int { 0 }
    package func measure() -> LinkMeasure? { nil }
}
