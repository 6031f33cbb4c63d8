import CFunctionFS
import GantryCore
import GantryPlatform
import Glibc

/// The bulk endpoints of a FunctionFS function for one session, through the kernel's asynchronous I/O.
///
/// A read(2) that blocks in an endpoint's file is not woken by closing the descriptor, poll(2) says nothing about such a
/// file, and one read at a time leaves the controller without a buffer in between. With io_submit(2) four transfers are
/// queued, an eventfd tells of their ends, and io_destroy(2) takes them back and waits until they are. The files are
/// non-blocking, or io_submit would wait for a host.
final class FunctionFSPipe: BulkPipe, @unchecked Sendable {  // `context` is guarded by the lock of its `BulkLink`.
    /// The endpoint files, which outlive this pipe.
    struct Endpoints: Sendable {
        let fromDevice: FileDescriptor
        let toDevice: FileDescriptor
    }

    let rules: BulkRules
    private let endpoints: Endpoints
    private let buffers = BulkBuffers()
    private let event: EventDescriptor
    private var context: aio_context_t
    private let events: UnsafeMutablePointer<io_event>
    private static let eventRoom = 2 * USBProtocol.transfersInFlight
    /// Set in the tag of a write; the rest is the slot.
    private static let writeTag: UInt64 = 1 << 32

    /// - Throws: `peerLost` when no host has enabled the function, `general` when the system has no more of something.
    init(_ endpoints: Endpoints) throws(GantryError) {
        self.endpoints = endpoints
        let size = CFunctionFS_packet_size(endpoints.fromDevice.rawValue)
        guard let rules = BulkRules(packetSize: Int(size)) else { throw Self.unplugged(errno) }
        self.rules = rules
        event = try EventDescriptor()
        var made: aio_context_t = 0
        do throws(SystemError) {
            try syscall("io_setup") { CFunctionFS_io_setup(CUnsignedInt(Self.eventRoom), &made) }
        } catch {
            throw GantryError(
                .general,
                "The kernel gives no asynchronous I/O. Raise the limit with: sudo sysctl fs.aio-max-nr=1048576",
                cause: error.description)
        }
        context = made
        events = .allocate(capacity: Self.eventRoom)
        // What an earlier session left in the controller. Not every one can; the preface copes with the rest.
        _ = CFunctionFS_flush(endpoints.fromDevice.rawValue)
        _ = CFunctionFS_flush(endpoints.toDevice.rawValue)
    }

    deinit {
        close()
        events.deallocate()
    }

    var pollDescriptor: CInt { event.rawValue }
    func wake() { event.signal() }
    func readBuffer(_ slot: Int) -> UnsafeMutableRawBufferPointer { buffers.read(slot) }
    func writeBuffer(_ slot: Int) -> UnsafeMutableRawBufferPointer { buffers.write(slot) }

    func postRead(_ slot: Int) throws(GantryError) {
        try submit(isWrite: false, endpoints.toDevice, buffers.read(slot), USBProtocol.transferSize, UInt64(slot))
    }

    func postWrite(_ slot: Int, count: Int) throws(GantryError) {
        try submit(isWrite: true, endpoints.fromDevice, buffers.write(slot), count, UInt64(slot) | Self.writeTag)
    }

    private func submit(
        isWrite: Bool, _ file: FileDescriptor, _ buffer: UnsafeMutableRawBufferPointer, _ count: Int, _ tag: UInt64
    ) throws(GantryError) {
        do throws(SystemError) {
            try syscall("io_submit") {
                CFunctionFS_io_submit(
                    context, isWrite ? 1 : 0, file.rawValue, buffer.baseAddress, count, event.rawValue, tag)
            }
        } catch {
            throw Self.unplugged(error.errno)
        }
    }

    func collect(_ completed: (BulkCompletion) -> Void) throws(GantryError) {
        event.clear()
        let count = CFunctionFS_io_getevents(context, Self.eventRoom, events)
        guard count > 0 else { return }
        for index in 0..<min(count, Self.eventRoom) {
            let (tag, result) = (events[index].data, events[index].res)
            guard result >= 0 else { throw Self.unplugged(CInt(clamping: -result)) }
            let slot = Int(tag & 0xFF)
            if tag & Self.writeTag != 0 {
                completed(.write(slot: slot))
            } else {
                completed(.read(slot: slot, count: Int(result)))
            }
        }
    }

    /// Only the host can ask.
    func finish(sent: UInt64) {}

    func close() {
        guard context != 0 else { return }
        _ = CFunctionFS_io_destroy(context)
        context = 0
    }

    private static func unplugged(_ number: CInt) -> GantryError {
        GantryError(
            .peerLost, "The USB host has gone: the cable was unplugged, or it sleeps.",
            cause: SystemError(errno: number, during: "FunctionFS").reason)
    }
}
