package import GantryCore

/// Publishes and finds services through the Avahi daemon, on a thread of its own ("discovery"). Any thread may call.
///
/// A daemon that is absent, stops or comes back does not end anything: advertisements and browses that stand are made
/// again when it can be reached, and the list of a browse is empty meanwhile.
package final class Discovery: Sendable {
    /// - Parameter stateChanged: called on the discovery thread.
    package init(stateChanged: @escaping @Sendable (DiscoveryState) -> Void) {}

    /// Begins. Never fails because of the daemon.
    package func start() throws(GantryError) {}

    /// Withdraws everything (a goodbye goes out), ends the thread and waits for it. Not from a callback.
    package func stop() {}

    /// Publishes until `withdraw` or `stop`.
    ///
    /// - Parameter named: called on the discovery thread with the name that was established: the one wished for, or with
    ///   a number after a conflict.
    package func advertise(
        _ advertisement: ServiceAdvertisement, named: @escaping @Sendable (String) -> Void = { _ in }
    ) -> ServiceRegistration { ServiceRegistration() }

    /// Looks for services until `ServiceBrowse.stop` or `stop`.
    ///
    /// - Parameter changed: called on the discovery thread with all that is there now, sorted by name, after each change.
    ///   At most 64 services are kept.
    package func browse(
        _ type: ServiceType, changed: @escaping @Sendable ([DiscoveredService]) -> Void
    ) -> ServiceBrowse { ServiceBrowse() }
}
