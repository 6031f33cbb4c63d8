public import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// Shows which producers are on this network, for as long as it runs. Made by `StudioController.makeBrowser`. Any thread.
public final class ProducerBrowser: @unchecked Sendable {  // What varies is guarded by `lock`.
    public enum Event: Sendable {
        /// All that are there now, by name. Empty while the network cannot be searched.
        case producers([DiscoveredProducer])
        /// Told once for each outage; it goes on by itself.
        case unavailable(GantryError)
        /// The network can be searched (again).
        case available
    }

    /// The newest 16 are kept for a reader that is slow.
    public let events: AsyncStream<Event>

    private let store: DeviceStore
    private let continuation: AsyncStream<Event>.Continuation
    private let lock = Lock()
    private var discovery: Discovery?
    private var last: [DiscoveredProducer] = []

    init(store: DeviceStore) {
        self.store = store
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    deinit { continuation.finish() }

    /// Begins to search. Never fails because of the network.
    ///
    /// - Throws: `invalidState` the second time, `general` when the system gives no thread.
    public func start() throws(GantryError) {
        let continuation = continuation
        let discovery = Discovery { state in
            switch state {
            case .running: continuation.yield(.available)
            case .unavailable(let error): continuation.yield(.unavailable(error))
            }
        }
        let isFirst = lock.withLock {
            if self.discovery != nil { return false }
            self.discovery = discovery
            return true
        }
        guard isFirst else { throw GantryError(.invalidState, "The browser has been started already.") }
        try discovery.start()
        _ = discovery.browse(.producer) { [weak self] in self?.changed($0) }
    }

    /// Ends the search, and `events`.
    public func stop() {
        lock.withLock { discovery }?.stop()
        continuation.finish()
    }

    /// What is there now.
    public var producers: [DiscoveredProducer] { lock.withLock { last } }

    private func changed(_ services: [DiscoveredService]) {
        let devices = (try? store.devices()) ?? []
        let found = services.compactMap { DiscoveredProducer($0, devices: devices) }
        lock.withLock { last = found }
        continuation.yield(.producers(found))
    }
}
