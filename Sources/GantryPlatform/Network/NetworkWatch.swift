import CLinux
package import GantryCore
import Glibc

/// Tells when the networks of this machine change: interfaces come and go, are switched, get and lose addresses.
///
/// The kernel tells by netlink (rtnetlink(7)); where that is not allowed, it looks every two seconds. Thread:
/// "network-watch"; `changed` comes on it.
package final class NetworkWatch: @unchecked Sendable {  // `lock` guards `isStopped` and `thread`.
    /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x100

    private let changed: @Sendable (NetworkInformation) -> Void
    private let wake: EventDescriptor
    private let lock = Lock()
    private var isStopped = false
    private var thread: NamedThread?

    /// - Parameter changed: the first look, and every one that differs from the last, but for a signal's strength.
    package init(changed: @escaping @Sendable (NetworkInformation) -> Void) throws(GantryError) {
        self.changed = changed
        wake = try EventDescriptor()
    }

    package func start() throws(GantryError) {
        let started = try NamedThread("network-watch") { [self] in run() }
        lock.withLock { thread = started }
    }

    /// Ends the thread and waits for it; not from `changed`.
    package func stop() {
        let running = lock.withLock { () -> NamedThread? in
            isStopped = true
            return thread
        }
        wake.signal()
        running?.join()
    }

    private func run() {
        // Before the first look, so that no change is lost between the two.
        let descriptor = CLinux_netlink_socket(NETLINK_ROUTE, Self.groups)
        let kernel = descriptor < 0 ? nil : FileDescriptor(takingOwnership: descriptor)
        var last: [Key]?
        while !lock.withLock({ isStopped }) {
            if let kernel { Self.drain(kernel) }
            let now = NetworkInformation.now()
            let key = now.interfaces.map(Key.init)
            if key != last {
                last = key
                changed(now)
            }
            var set = (
                pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: kernel?.rawValue ?? -1, events: Int16(POLLIN), revents: 0)
            )
            withUnsafeMutablePointer(to: &set) { pointer in
                pointer.withMemoryRebound(to: pollfd.self, capacity: 2) {
                    _ = Glibc.poll($0, 2, kernel == nil ? 2000 : -1)
                }
            }
        }
    }

    /// What makes a change.
    private struct Key: Equatable {
        let name: String
        let isUp: Bool
        let addresses: [String]
        let network: [UInt8]?
        let accessPoint: String?

        init(_ interface: NetworkInterface) {
            name = interface.name
            isUp = interface.isUp
            addresses = interface.addresses
            network = interface.wifi?.ssidBytes
            accessPoint = interface.wifi?.bssid
        }
    }

    /// What they say does not matter: the look does.
    private static func drain(_ socket: FileDescriptor) {
        var bytes = [UInt8](repeating: 0, count: 8192)
        for _ in 0..<256 {
            let count = bytes.withUnsafeMutableBytes {
                recv(socket.rawValue, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT))
            }
            // ENOBUFS: some were lost, more may wait.
            if count < 0 && errno != ENOBUFS && errno != EINTR { return }
        }
    }
}
