import Glibc

/// Keeps tests off the network of the machine: without a message bus, discovery is unavailable. Hosts in network namespaces
/// have a bus of their own.
package enum Isolation {
    package static let noMessageBus = "unix:path=/nonexistent/gantry-tests"

    private static let isApplied: Bool = setenv("DBUS_SYSTEM_BUS_ADDRESS", noMessageBus, 1) == 0

    /// For this process: before anything is started that discovers.
    package static func apply() { _ = isApplied }
}
