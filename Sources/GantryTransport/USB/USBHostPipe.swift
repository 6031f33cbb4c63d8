import CLibUSB
import GantryCore
import GantryPlatform
import Glibc

/// The bulk endpoints of a Gantry device, through libusb's asynchronous transfers.
///
/// Each pipe has a libusb context of its own, whose events the thread handles that wants them: no other thread takes
/// part, so completions need no second wake-up.
final class USBHostPipe: BulkPipe, @unchecked Sendable {  // Belongs to who opens it, then guarded by its link's lock.
    let rules: BulkRules
    private let session: USBHostSession
    private let buffers: BulkBuffers
    private let inEndpoint: UInt8
    private let outEndpoint: UInt8
    private var transfers: [UnsafeMutablePointer<libusb_transfer>] = []
    /// Of each transfer: with the kernel now.
    private var isPosted = [Bool](repeating: false, count: 2 * USBProtocol.transfersInFlight)
    private var completions: [BulkCompletion] = []
    private var failure: GantryError?
    private var stalledEndpoint: UInt8?
    private var isClosed = false
    /// `session.wake` is signalled.
    private var isWoken = false

    /// How long transfers may take to come back when they are cancelled.
    private static let cancelLimit = MediaDuration.seconds(2)

    init(_ session: USBHostSession, _ endpoints: USBHostSession.Endpoints) throws(GantryError) {
        self.session = session
        buffers = session.deviceBuffers() ?? BulkBuffers()
        rules = endpoints.rules
        inEndpoint = endpoints.bulkIn
        outEndpoint = endpoints.bulkOut
        completions.reserveCapacity(isPosted.count)
        for _ in isPosted.indices {
            guard let transfer = libusb_alloc_transfer(0) else {
                throw GantryError(.general, "There is no memory for USB transfers. Close other programs.")
            }
            transfers.append(transfer)
        }
    }

    deinit { close() }

    var pollDescriptor: CInt { session.pollDescriptor }
    func wake() {
        isWoken = true
        session.wake.signal()
    }
    func readBuffer(_ slot: Int) -> UnsafeMutableRawBufferPointer { buffers.read(slot) }
    func writeBuffer(_ slot: Int) -> UnsafeMutableRawBufferPointer { buffers.write(slot) }

    func postRead(_ slot: Int) throws(GantryError) {
        try post(slot, inEndpoint, buffers.read(slot), USBProtocol.transferSize)
    }

    func postWrite(_ slot: Int, count: Int) throws(GantryError) {
        try post(slot + USBProtocol.transfersInFlight, outEndpoint, buffers.write(slot), count)
    }

    private func post(
        _ index: Int, _ endpoint: UInt8, _ buffer: UnsafeMutableRawBufferPointer, _ count: Int
    ) throws(GantryError) {
        let transfer = transfers[index]
        // No time limit of libusb's: the session above has its own.
        libusb_fill_bulk_transfer(
            transfer, session.handle, endpoint, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
            CInt(clamping: count), transferCompleted, Unmanaged.passUnretained(self).toOpaque(), 0)
        let status = libusb_submit_transfer(transfer)
        guard status == 0 else { throw USBHostSession.error(status, "a transfer") }
        isPosted[index] = true
    }

    func collect(_ completed: (BulkCompletion) -> Void) throws(GantryError) {
        if isWoken {
            isWoken = false
            session.wake.clear()
        }
        session.handleEvents(for: .zero)
        for completion in completions { completed(completion) }
        completions.removeAll(keepingCapacity: true)
        if let failure { throw failure }
    }

    /// libusb's callback, on the thread that handles events.
    fileprivate func note(_ transfer: UnsafeMutablePointer<libusb_transfer>) {
        guard let index = transfers.firstIndex(of: transfer) else { return }
        isPosted[index] = false
        let count = Int(transfer.pointee.actual_length)
        switch transfer.pointee.status {
        case LIBUSB_TRANSFER_COMPLETED:
            let slot = index % USBProtocol.transfersInFlight
            if index == slot {
                completions.append(.read(slot: slot, count: count))
            } else if count == Int(transfer.pointee.length) {
                completions.append(.write(slot: slot))
            } else {
                failure = failure ?? USBHostSession.error(LIBUSB_ERROR_IO.rawValue, "a transfer")
            }
        case LIBUSB_TRANSFER_CANCELLED: break
        case LIBUSB_TRANSFER_NO_DEVICE:
            failure = USBHostSession.error(LIBUSB_ERROR_NO_DEVICE.rawValue, "a transfer")
        case LIBUSB_TRANSFER_STALL:
            stalledEndpoint = transfer.pointee.endpoint
            failure = failure ?? USBHostSession.error(LIBUSB_ERROR_PIPE.rawValue, "a transfer")
        case LIBUSB_TRANSFER_OVERFLOW:
            failure = failure ?? USBHostSession.error(LIBUSB_ERROR_OVERFLOW.rawValue, "a transfer")
        default: failure = failure ?? USBHostSession.error(LIBUSB_ERROR_IO.rawValue, "a transfer")
        }
    }

    func finish(sent: UInt64) {
        guard failure == nil else { return }
        session.request(
            USBProtocol.Request.finish, data: withUnsafeBytes(of: sent.littleEndian) { Array($0) }, limit: 200)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        for (transfer, isPosted) in zip(transfers, isPosted) where isPosted { libusb_cancel_transfer(transfer) }
        let end = MonotonicClock.now() + Self.cancelLimit
        while isPosted.contains(true), MonotonicClock.now() < end { session.handleEvents(for: .milliseconds(50)) }
        if isPosted.contains(true) {
            // The kernel may still write into the buffers: better lost than freed.
            Log.error("USB transfers did not come back from the kernel")
            _ = Unmanaged.passRetained(self)
            return session.close(isLeft: true)
        }
        // A transfer holds on to its device: freed before the context goes.
        for transfer in transfers { libusb_free_transfer(transfer) }
        transfers = []
        buffers.leave()
        if let stalledEndpoint { session.clearHalt(stalledEndpoint) }
        session.close(isLeft: false)
    }
}

private func transferCompleted(_ transfer: UnsafeMutablePointer<libusb_transfer>?) {
    guard let transfer, let context = transfer.pointee.user_data else { return }
    Unmanaged<USBHostPipe>.fromOpaque(context).takeUnretainedValue().note(transfer)
}
