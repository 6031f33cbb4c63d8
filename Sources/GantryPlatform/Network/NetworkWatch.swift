import CLinux
package import GantryCore
import Glibc

/// Tells when the networks of this machine change: interfaces come and go, are switched, get and lose addresses.
///
/// The kernel tells by netlink (rtnetlink(7)); where that is not allowed, it looks every two seconds. Thread:
/// "network-watch"; `changed` comes on it.
package final class NetworkWatch: Sendable {
    /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x100

    private let changed: @Sendable (NetworkInformation) -> Void
    private let thread: PollThread

    /// - Parameter changed: the first look, and every one that differs from the last, but for a signal's strength.
    package init(changed: @escaping @Sendable (NetworkInformation) -> Void) throws(GantryError) {
        self.changed = changed
        thread = try PollThread()
    }

    package func start() throws(GantryError) { try thread.start("network-watch") { [self] in run() } }

    /// Ends the thread and waits for it; not from `changed`.
    package func stop() { thread.stop() }

    private func run() {
        // Before the first look, so that no change is lost between the two.
        let descriptor = CLinux_netlink_socket(NETLINK_ROUTE, Self.groups)
        let kernel = descriptor < 0 ? nil : FileDescriptor(takingOwnership: descriptor)
        var last: [Key]?
        repeat {
            if let kernel { Self.drain(kernel) }
            let now = NetworkInformation.now()
            let key = now.interfaces.map(Key.init)
            if key != last {
                last = key
                changed(now)
            }
        } while thread.wait(for: kernel, timeout: kernel == nil ? 2000 : -1)
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
