import CLibUSB
package import GantryCore
import GantryPlatform
import Glibc

/// Looks at USB again whenever the kernel says that a device came or went, and every second in any case.
///
/// The kernel's own messages (netlink, NETLINK_KOBJECT_UEVENT) need no udevd, unlike libusb's hot-plug events; where
/// they do not arrive, as in a container, the second is what remains. Thread: "usb-watch"; `changed` comes on it.
package final class USBWatch: Sendable {
    private let changed: @Sendable (USBScan) -> Void
    private let root: String
    private let interval: MediaDuration
    private let thread: PollThread

    /// - Parameter changed: the first look, and every one that differs from the last.
    package init(
        root: String = "/sys/bus/usb/devices", interval: MediaDuration = .seconds(1),
        changed: @escaping @Sendable (USBScan) -> Void
    ) throws(GantryError) {
        self.root = root
        self.interval = interval
        self.changed = changed
        thread = try PollThread()
    }

    package func start() throws(GantryError) { try thread.start("usb-watch") { [self] in run() } }

    /// Ends the thread and waits for it; not from `changed`.
    package func stop() { thread.stop() }

    private func run() {
        let kernel = Self.kernelEvents()
        var last: USBScan?
        repeat {
            if let kernel { Self.drain(kernel) }
            let scan = USBScan.now(root: root)
            if scan != last {
                last = scan
                changed(scan)
            }
        } while thread.wait(for: kernel, timeout: CInt(clamping: interval.microseconds / 1000))
    }

    /// The kernel's own group of uevents; nil where there is none.
    private static func kernelEvents() -> FileDescriptor? {
        let descriptor = CLibUSB_uevent_socket()
        return descriptor < 0 ? nil : FileDescriptor(takingOwnership: descriptor)
    }

    /// What they say does not matter: the look at sysfs does.
    private static func drain(_ socket: FileDescriptor) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<256 {
            let count = bytes.withUnsafeMutableBytes { recv(socket.rawValue, $0.baseAddress, $0.count, 0) }
            // ENOBUFS: some were lost, more may wait.
            if count < 0 && errno != ENOBUFS && errno != EINTR { return }
        }
    }
}
