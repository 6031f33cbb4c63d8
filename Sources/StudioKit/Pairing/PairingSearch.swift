import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// Looks for producers that have scanned our code (`_camopairing._tcp` with the right `r`) and dials all of them: anybody
/// can copy `r`, nobody can finish without the secret. Tells of producers that are paired already as well.
///
/// The thread "studio-dial" dials; callbacks come on it and on the discovery thread.
final class PairingSearch: @unchecked Sendable {  // What varies is guarded by `lock`.
    struct Callbacks {
        /// The `r` values that count now.
        let rendezvous: @Sendable () -> Set<String>
        /// TCP stands. The owner says with `ended` when the connection is over.
        let connected: @Sendable (SocketLink, Endpoint) -> Void
        let producersChanged: @Sendable ([DiscoveredService]) -> Void
        let unavailable: @Sendable (GantryError) -> Void
    }

    private static let dialLimit = MediaDuration.seconds(5)
    /// Before an address that did not lead to a pairing is dialled again, as long as it is advertised.
    private static let pause = MediaDuration.seconds(1)
    /// A producer has a few interfaces; a rogue may claim any number.
    private static let addressesOfOne = 6

    private let callbacks: Callbacks
    private let discovery: Discovery
    private let race: DialRace
    private let stopping: EventDescriptor
    private let deadline: MediaTimestamp
    private let lock = Lock()
    private var services: [DiscoveredService] = []
    private var retries: [(endpoint: Endpoint, time: MediaTimestamp)] = []
    private var thread: NamedThread?

    /// - Parameter deadline: nothing is dialled after it.
    init(until deadline: MediaTimestamp, _ callbacks: Callbacks) throws(GantryError) {
        self.deadline = deadline
        self.callbacks = callbacks
        discovery = Discovery { state in
            if case .unavailable(let error) = state { callbacks.unavailable(error) }
        }
        race = try DialRace()
        stopping = try EventDescriptor()
    }

    func start() throws(GantryError) {
        try discovery.start()
        _ = discovery.browse(.pairing) { [weak self] in self?.found($0) }
        _ = discovery.browse(.producer) { [callbacks] in callbacks.producersChanged($0) }
        let thread = try NamedThread("studio-dial") { [self] in run() }
        lock.withLock { self.thread = thread }
    }

    func stop() {
        stopping.signal()
        discovery.stop()
        lock.withLock { thread }?.join()
    }

    /// The code has changed.
    func codeChanged() { dialMatches() }

    /// A connection to this address is over, and nobody has paired on it.
    func ended(_ endpoint: Endpoint) {
        lock.withLock { retries.append((endpoint, MonotonicClock.now() + Self.pause)) }
    }

    private func found(_ services: [DiscoveredService]) {
        lock.withLock { self.services = services }
        dialMatches()
    }

    private func dialMatches() {
        let wanted = callbacks.rendezvous()
        for service in lock.withLock({ services }) {
            guard let r = service.text["r"], wanted.contains(r.uppercased()) else { continue }
            race.add(Array(service.endpoints.prefix(Self.addressesOfOne)))
        }
    }

    private func run() {
        race.run(until: deadline, limit: Self.dialLimit, cancel: stopping) { endpoint, outcome in
            switch outcome {
            case .connected(let link): callbacks.connected(link, endpoint)
            case .failed: ended(endpoint)
            }
            return true
        } everySecond: { now in
            let due = lock.withLock { () -> [Endpoint] in
                defer { retries.removeAll { now >= $0.time } }
                return retries.filter { now >= $0.time }.map(\.endpoint)
            }
            for endpoint in due { race.forget(endpoint) }
            if !due.isEmpty { dialMatches() }
        }
    }
}
