import CLibUSB
import GantryCore
import GantryPlatform
import Glibc

/// An opened Gantry device: libusb context, handle and claimed interface. One thread at a time.
final class USBHostSession: @unchecked Sendable {  // Belongs to who opens it, then guarded by the link's lock.
    /// What the descriptors say, checked.
    struct Endpoints {
        var bulkIn: UInt8
        var bulkOut: UInt8
        var rules: BulkRules
    }

    private var context: OpaquePointer?
    private(set) var handle: OpaquePointer?
    private let device: USBDevice
    private var isClaimed = false
    private let epoll: FileDescriptor
    /// Makes `pollDescriptor` readable, also after `close`.
    let wake: EventDescriptor

    var pollDescriptor: CInt { epoll.rawValue }

    /// Opens the device and claims the interface.
    init(_ device: USBDevice) throws(GantryError) {
        self.device = device
        do throws(SystemError) {
            epoll = FileDescriptor(takingOwnership: try syscall("epoll_create1") { CLibUSB_epoll_create() })
        } catch {
            throw GantryError(
                .general, "No more files can be opened. Raise the limit with: ulimit -n 4096", cause: error.description)
        }
        wake = try EventDescriptor()
        var made: OpaquePointer?
        let status = libusb_init(&made)
        guard status == 0 else { throw Self.error(status, "libusb") }
        context = made
        do throws(GantryError) {
            try open()
            try watchDescriptors()
        } catch {
            close(isLeft: false)
            throw error
        }
    }

    deinit { close(isLeft: false) }

    private func open() throws(GantryError) {
        var list: UnsafeMutablePointer<OpaquePointer?>?
        let count = libusb_get_device_list(context, &list)
        defer { if let list { libusb_free_device_list(list, 1) } }
        guard let list, count > 0 else { throw gone }
        let found = (0..<count).lazy.compactMap { list[$0] }.first {
            libusb_get_bus_number($0) == self.device.bus && libusb_get_device_address($0) == self.device.address
        }
        guard let found else { throw gone }
        var status = libusb_open(found, &handle)
        guard status == 0 else { throw failure(status) }
        // Only where the kernel gives a vendor's interface to a driver, which is none of ours to keep.
        status = libusb_claim_interface(handle, CInt(device.interface))
        guard status == 0 else { throw failure(status) }
        isClaimed = true
    }

    private var gone: GantryError {
        GantryError(.usbNotFound, "The USB device at \(device.port) has gone. Plug it in again.")
    }

    /// Lets `pollDescriptor` become readable with any descriptor of libusb.
    private func watchDescriptors() throws(GantryError) {
        guard let list = libusb_get_pollfds(context) else { throw Self.error(LIBUSB_ERROR_OTHER.rawValue, "libusb") }
        defer { libusb_free_pollfds(list) }
        guard CLibUSB_epoll_add(epoll.rawValue, wake.rawValue, Int16(POLLIN)) == 0 else {
            throw Self.error(LIBUSB_ERROR_OTHER.rawValue, "epoll")
        }
        var index = 0
        while let entry = list[index] {
            // POLLIN, POLLOUT and their like are the same bits as EPOLLIN, EPOLLOUT.
            if CLibUSB_epoll_add(epoll.rawValue, entry.pointee.fd, entry.pointee.events) != 0 {
                throw Self.error(LIBUSB_ERROR_OTHER.rawValue, "epoll")
            }
            index += 1
        }
    }

    /// The two bulk endpoints of our interface. Nothing that the device says is taken for granted.
    ///
    /// - Throws: `usbNotGantry`.
    func endpoints() throws(GantryError) -> Endpoints {
        var configuration: UnsafeMutablePointer<libusb_config_descriptor>?
        let status = libusb_get_active_config_descriptor(libusb_get_device(handle), &configuration)
        guard status == 0, let configuration else { throw failure(status) }
        defer { libusb_free_config_descriptor(configuration) }
        for index in 0..<Int(configuration.pointee.bNumInterfaces) {
            guard let interface = configuration.pointee.interface, interface[index].num_altsetting > 0,
                let setting = interface[index].altsetting, setting.pointee.bInterfaceNumber == device.interface
            else { continue }
            return try endpoints(of: setting.pointee)
        }
        throw refused("it has no interface \(device.interface)")
    }

    private func endpoints(of setting: libusb_interface_descriptor) throws(GantryError) -> Endpoints {
        guard setting.bInterfaceClass == USBProtocol.interfaceClass,
            setting.bInterfaceSubClass == USBProtocol.interfaceSubclass,
            setting.bInterfaceProtocol == USBProtocol.interfaceProtocol, name(setting.iInterface)
        else { throw refused("its interface is not Gantry's") }
        guard setting.bNumEndpoints == 2, let list = setting.endpoint else {
            throw refused("its interface has \(setting.bNumEndpoints) endpoints, not 2")
        }
        var bulkIn: UInt8?
        var bulkOut: UInt8?
        var sizes: [Int] = []
        for index in 0..<2 {
            // bmAttributes: 2 is bulk (USB 2.0, 9.6.6).
            guard list[index].bmAttributes & 3 == 2 else { throw refused("an endpoint of it is not of the bulk kind") }
            let address = list[index].bEndpointAddress
            if address & 0x80 != 0 { bulkIn = address } else { bulkOut = address }
            sizes.append(Int(list[index].wMaxPacketSize))
        }
        guard let bulkIn, let bulkOut else { throw refused("its endpoints have the same direction") }
        guard sizes[0] == sizes[1], let rules = BulkRules(packetSize: sizes[0]) else {
            throw refused("its packets have \(sizes[0]) and \(sizes[1]) bytes")
        }
        return Endpoints(bulkIn: bulkIn, bulkOut: bulkOut, rules: rules)
    }

    /// Whether the string descriptor is our interface's name.
    private func name(_ index: UInt8) -> Bool {
        guard index != 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = libusb_get_string_descriptor_ascii(handle, index, &bytes, CInt(bytes.count))
        return count > 0 && bytes.prefix(Int(count)).elementsEqual(USBProtocol.interfaceName.utf8)
    }

    private func refused(_ reason: String) -> GantryError {
        GantryError(
            .usbNotGantry,
            "The USB device at \(device.port) claims to be a Gantry producer and is none: \(reason). Unplug it if you do "
                + "not know it.")
    }

    /// Buffers that the kernel shares with us, so that it copies nothing (usbfs). Nil where there are none.
    ///
    /// On x86 only: elsewhere the memory that a controller shares may be uncached, and reading it slower than a copy.
    func deviceBuffers() -> BulkBuffers? {
        #if arch(x86_64)
            guard let handle, let start = libusb_dev_mem_alloc(handle, BulkBuffers.size) else { return nil }
            return BulkBuffers(borrowing: start) { start in
                libusb_dev_mem_free(handle, start.assumingMemoryBound(to: UInt8.self), BulkBuffers.size)
            }
        #else
            return nil
        #endif
    }

    /// A vendor request to our interface. Zero, or libusb's error.
    @discardableResult
    func request(_ number: UInt8, data: [UInt8], limit milliseconds: CUnsignedInt) -> CInt {
        var data = data
        let count = libusb_control_transfer(
            handle, USBProtocol.Request.type, number, 0, UInt16(device.interface), &data, UInt16(clamping: data.count),
            milliseconds)
        return count == CInt(clamping: data.count) ? 0 : min(count, -1)
    }

    /// Runs libusb's callbacks for what is complete; waits for something at most so long.
    func handleEvents(for limit: MediaDuration) {
        _ = CLibUSB_handle_events(context, CLong(limit.microseconds))
    }

    func clearHalt(_ endpoint: UInt8) { if let handle { libusb_clear_halt(handle, endpoint) } }

    /// - Parameter isLeft: transfers are still with the kernel, so libusb's objects have to stay.
    func close(isLeft: Bool) {
        guard !isLeft else { return }
        if let handle {
            if isClaimed { libusb_release_interface(handle, CInt(device.interface)) }
            libusb_close(handle)
        }
        handle = nil
        isClaimed = false
        if let context { libusb_exit(context) }
        context = nil
    }

    // MARK: Errors

    private func failure(_ status: CInt) -> GantryError {
        switch libusb_error(rawValue: status) {
        case LIBUSB_ERROR_ACCESS:
            GantryError(
                .usbDeviceNotPermitted,
                "The USB device \(device.node) may not be opened. The rule /etc/udev/rules.d/70-gantry.rules "
                    + "permits it. Install it with: sudo scripts/install --udev-only. Then unplug the cable and plug it in "
                    + "again.",
                cause: Self.reason(status))
        case LIBUSB_ERROR_NO_DEVICE, LIBUSB_ERROR_NOT_FOUND: gone
        case LIBUSB_ERROR_BUSY:
            GantryError(
                .usbBusy, "Another program uses the USB device \(device.node). See which: sudo fuser -v \(device.node)",
                cause: Self.reason(status))
        default: Self.error(status, "the device \(device.node)")
        }
    }

    static func error(_ status: CInt, _ what: String) -> GantryError {
        if status == LIBUSB_ERROR_NO_DEVICE.rawValue {
            return GantryError(.peerLost, "The USB device was unplugged.", cause: reason(status))
        }
        return GantryError(
            .usbTransfer, "USB failed: \(what). Unplug the cable, plug it in again.", cause: reason(status))
    }

    private static func reason(_ status: CInt) -> String {
        libusb_error_name(status).map { String(cString: $0) } ?? "\(status)"
    }
}
