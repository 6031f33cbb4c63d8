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
    /// Before an address that did not lead to a pairing is dialled again, as long as it is advertised: doubled with each
    /// time, so that addresses of a rogue neither take the genuine one's place nor are kept busy by us.
    private static let pause = MediaDuration.seconds(1)
    private static let longestPause = MediaDuration.seconds(8)
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
    /// The pause after the next failure. At most as many as there are addresses to dial.
    private var pauses: [Endpoint: MediaDuration] = [:]
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
    func codeChanged() {
        lock.withLock { pauses = [:] }
        dialMatches()
    }

    /// A connection to this address is over, and nobody has paired on it.
    func ended(_ endpoint: Endpoint) {
        lock.withLock {
            let pause = pauses[endpoint] ?? Self.pause
            if pauses.count >= DialRace.maximumAddresses { pauses = [:] }
            pauses[endpoint] = min(pause + pause, Self.longestPause)
            retries.append((endpoint, MonotonicClock.now() + pause))
        }
    }

    /// There was no room for a connection to this address.
    func postponed(_ endpoint: Endpoint) {
        lock.withLock { retries.append((endpoint, MonotonicClock.now() + Self.pause)) }
    }

    private func found(_ services: [DiscoveredService]) {
        lock.withLock { self.services = services }
        dialMatches()
    }

    private func dialMatches() {
        let wanted = callbacks.rendezvous()
        let matches = lock.withLock { services }.filter { service in
            service.text["r"].map { wanted.contains($0.uppercased()) } ?? false
        }
        race.add(matches.endpointsInTurn(ofEach: Self.addressesOfOne))
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
