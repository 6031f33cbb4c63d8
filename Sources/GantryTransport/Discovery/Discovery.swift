package import GantryCore

/// Publishes and finds services through the Avahi daemon, on a thread of its own ("discovery"). Any thread may call;
/// no call but `stop` waits for the daemon.
///
/// A daemon that is absent, stops or comes back does not end anything: advertisements and browses that stand are made
/// again when it can be reached, and the list of a browse is empty meanwhile.
package final class Discovery: Sendable {
    private let loop: DiscoveryLoop

    /// - Parameter stateChanged: called on the discovery thread.
    package init(stateChanged: @escaping @Sendable (DiscoveryState) -> Void) {
        loop = DiscoveryLoop(stateChanged: stateChanged)
    }

    /// Begins. Never fails because of the daemon.
    ///
    /// - Throws: `invalidState` the second time and after `stop`; `general` without threads or files.
    package func start() throws(GantryError) { try loop.start() }

    /// Withdraws everything (a goodbye goes out), ends the thread and waits for it; a daemon that hangs is waited for
    /// three seconds. Any number of times. Not from a callback, and not with a lock held that a callback takes.
    package func stop() { loop.stop() }

    deinit { loop.stop() }

    /// Publishes until `withdraw` or `stop`. Before `start` it waits for that.
    ///
    /// - Parameter named: called on the discovery thread with the name that was established: the one wished for, or with
    ///   a number after a conflict. Again whenever it was established anew, for example after a restart of the daemon.
    package func advertise(
        _ advertisement: ServiceAdvertisement, named: @escaping @Sendable (String) -> Void = { _ in }
    ) -> ServiceRegistration {
        let gate = CallbackGate()
        let number = loop.nextNumber()
        loop.post(.advertise(number, advertisement, gate, named))
        return ServiceRegistration(number: number, gate: gate, loop: loop)
    }

    /// Looks for services until `ServiceBrowse.stop` or `stop`.
    ///
    /// - Parameter changed: called on the discovery thread with all that is there now, sorted by name, after each change.
    ///   At most 64 services are kept, those of many machines before many of one, and only those that have an address.
    package func browse(
        _ type: ServiceType, changed: @escaping @Sendable ([DiscoveredService]) -> Void
    ) -> ServiceBrowse {
        let gate = CallbackGate()
        let number = loop.nextNumber()
        loop.post(.browse(number, type, gate, changed))
        return ServiceBrowse(number: number, gate: gate, loop: loop)
    }
}
