import CFunctionFS
package import GantryCore
import GantryPlatform
import Glibc

/// The producer's side of a USB cable: Gantry's function in a gadget, through a FunctionFS mount that somebody has
/// prepared.
///
/// `init` writes the descriptors: after it the gadget can be bound to a controller. The gadget falls apart when this
/// object stops, or when its process dies. A host begins a session with RESET; once its preface has come, `onLink` gets
/// the link of the session. The next RESET closes the last session's link, and so do an unplugged cable and a host that
/// sleeps.
///
/// Thread: "usb-control" reads ep0. Callbacks come on it, return soon, and do not call `stop`.
package final class FunctionFSFunction: @unchecked Sendable {
    // `session` and `openEnd` belong to the control thread.
    package enum State: Hashable, Sendable {
        /// Not bound to a controller.
        case unbound
        /// Bound; no host, or none that has chosen our configuration.
        case bound
        /// A host is there.
        case enabled
        case suspended
    }

    private let endpoints: FunctionFSPipe.Endpoints
    private let control: FileDescriptor
    private let thread: PollThread
    private let onState: @Sendable (State) -> Void
    private let onLink: @Sendable (BulkLink) -> Void
    private var session: BulkLink?
    /// Until then the host's preface has to come; nil when it has.
    private var openEnd: MediaTimestamp?
    private static let openLimit = MediaDuration.seconds(3)

    /// - Parameters:
    ///   - mount: the folder of the FunctionFS mount.
    ///   - onState: what the controller tells.
    ///   - onLink: a session has begun.
    /// - Throws: `usbFunction`.
    package init(
        mount: String, onState: @escaping @Sendable (State) -> Void = { _ in },
        onLink: @escaping @Sendable (BulkLink) -> Void
    ) throws(GantryError) {
        self.onState = onState
        self.onLink = onLink
        thread = try PollThread()
        control = try Self.open(mount + "/ep0")
        try Self.write(GadgetDescriptors.descriptors, to: control, "descriptors")
        try Self.write(GadgetDescriptors.strings, to: control, "strings")
        // The kernel has made these files just now, numbered in the order of the descriptors.
        endpoints = FunctionFSPipe.Endpoints(
            fromDevice: try Self.open(mount + "/ep1"), toDevice: try Self.open(mount + "/ep2"))
    }

    /// Begins to answer the host.
    package func start() throws(GantryError) { try thread.start("usb-control") { [self] in run() } }

    /// Ends the session and the control thread. With the last reference to this object the gadget unbinds.
    package func stop() { thread.stop() }

    private static func open(_ path: String) throws(GantryError) -> FileDescriptor {
        do throws(SystemError) {
            return FileDescriptor(
                takingOwnership: try syscall("open \(path)") { Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) })
        } catch {
            switch error.errno {
            case EBUSY:
                throw GantryError(
                    .usbFunction, "Another program answers on \(path). End it first: sudo fuser -v \(path)",
                    cause: error.reason)
            case EACCES, EPERM:
                throw GantryError(
                    .usbFunction,
                    "\(path) belongs to another user. Name yours with GANTRY_USB_OWNER in /etc/default/gantry-gadget, then: "
                        + "sudo systemctl restart gantry-gadget. A mount of your own takes uid= and gid=.",
                    cause: error.reason)
            default:
                throw GantryError(
                    .usbFunction,
                    "\(path) cannot be opened. Prepare the USB gadget first: gantry-producer run --usb --usb-setup",
                    cause: error.reason)
            }
        }
    }

    private static func write(_ bytes: [UInt8], to file: FileDescriptor, _ what: String) throws(GantryError) {
        do throws(SystemError) {
            let count = try syscall("write \(what)") {
                bytes.withUnsafeBytes { Glibc.write(file.rawValue, $0.baseAddress, $0.count) }
            }
            guard count < bytes.count else { return }
            throw SystemError(errno: EIO, during: "write \(what)")
        } catch {
            throw GantryError(
                .usbFunction, "The kernel refuses the USB \(what). Set the gadget up anew.", cause: error.description)
        }
    }
}

// MARK: - The control thread

extension FunctionFSFunction {
    private func run() {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: FunctionFSEvent.size, alignment: 4)
        defer {
            bytes.deallocate()
            endSession()
        }
        while true {
            let opening = openEnd == nil ? nil : session
            var set = (
                pollfd(fd: control.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: thread.stopDescriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: opening?.pollDescriptor ?? -1, events: Int16(POLLIN), revents: 0)
            )
            let timeout = openLeft
            withUnsafeMutablePointer(to: &set) { pointer in
                pointer.withMemoryRebound(to: pollfd.self, capacity: 3) { _ = Glibc.poll($0, 3, timeout) }
            }
            if set.1.revents != 0 { return }
            if let opening { look(at: opening) }
            if set.0.revents == 0 { continue }
            do throws(SystemError) {
                // One event at a time: the data of a SETUP is read before the next event.
                guard case .bytes(let count) = try control.read(into: bytes) else { continue }
                if let event = FunctionFSEvent(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { handle(event) }
            } catch {
                // EIDRM: the host gave the last request up. Anything else is the end of the function.
                if error.errno == EIDRM || error.errno == EL2HLT { continue }
                Log.error("The USB function has failed: \(error). Set the gadget up anew.")
                onState(.unbound)
                return
            }
        }
    }

    private func handle(_ event: FunctionFSEvent) {
        switch event {
        case .bound: onState(.bound)
        case .unbound:
            endSession()
            onState(.unbound)
        case .enabled: onState(.enabled)
        case .disabled:
            endSession()
            onState(.bound)
        case .suspended:
            endSession()
            onState(.suspended)
        case .resumed: onState(.enabled)
        case .setup(let setup): answer(setup)
        case .unknown(let type): Log.debug("FunctionFS event \(type) is not known")
        }
    }

    /// Requests of the host. What is not ours is stalled.
    private func answer(_ setup: FunctionFSEvent.Setup) {
        guard setup.type == USBProtocol.Request.type, setup.value == 0 else { return stall(setup) }
        switch (setup.request, Int(setup.length)) {
        case (USBProtocol.Request.reset, USBProtocol.nonceSize):
            endSession()
            // Reading the data acknowledges the request: the host goes on when the old session is over.
            guard let nonce = readData(USBProtocol.nonceSize) else { return }
            do throws(GantryError) { try beginSession(nonce) } catch {
                Log.warning("No USB session could begin: \(error)")
            }
        case (USBProtocol.Request.finish, 8):
            guard let data = readData(8) else { return }
            session?.announceEnd(total: data.reversed().reduce(0) { $0 << 8 | UInt64($1) })
        default: stall(setup)
        }
    }

    /// Nil when the host gave up.
    private func readData(_ count: Int) -> [UInt8]? {
        var data = [UInt8](repeating: 0, count: count)
        let got = data.withUnsafeMutableBytes { Glibc.read(control.rawValue, $0.baseAddress, $0.count) }
        return got == count ? data : nil
    }

    /// I/O in the wrong direction stalls ep0 (FunctionFS answers it with EL2HLT).
    private func stall(_ setup: FunctionFSEvent.Setup) {
        var nothing: UInt8 = 0
        if setup.isFromDevice {
            _ = Glibc.read(control.rawValue, &nothing, 0)
        } else {
            _ = Glibc.write(control.rawValue, &nothing, 0)
        }
    }

    private func beginSession(_ nonce: [UInt8]) throws(GantryError) {
        guard let own = LinkPreface(nonce: nonce, from: .device), let host = LinkPreface(nonce: nonce, from: .host)
        else { return }
        let pipe = try FunctionFSPipe(endpoints)
        session = try BulkLink(pipe: pipe, peerAddress: "usb", ownPreface: own, peerPreface: host)
        openEnd = MonotonicClock.now() + Self.openLimit
    }

    /// Milliseconds until the host's preface is late; -1 when none is waited for.
    private var openLeft: CInt {
        guard let openEnd else { return -1 }
        return CInt(clamping: (max(0, (openEnd - MonotonicClock.now()).microseconds) &+ 999) / 1000)
    }

    /// A session is handed out when the host has begun it.
    private func look(at link: BulkLink) {
        do throws(GantryError) {
            if try link.hasBegun() {
                openEnd = nil
                return onLink(link)
            }
            guard openLeft == 0 else { return }
            link.abort(BulkLink.late)
        } catch {
            // It has said so.
        }
        openEnd = nil
        session = nil
    }

    private func endSession() {
        session?.abort(Self.hostHasEnded)
        session = nil
        openEnd = nil
    }

    private static var hostHasEnded: GantryError {
        GantryError(.peerLost, "The USB host began anew, has gone, or sleeps.")
    }
}
