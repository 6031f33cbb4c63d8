public import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// Shows which producers are on this network and on USB, for as long as it runs. Made by `StudioController.makeBrowser`. Any thread.
public final class ProducerBrowser: @unchecked Sendable {  // What varies is guarded by `lock`.
    /// What changes on the network.
    public enum Event: Sendable {
        /// All that are there now: those on the network by name, then those on USB alone. While the network cannot be
        /// searched only what is on USB.
        case producers([DiscoveredProducer])
        /// Told once for each outage; it goes on by itself.
        case unavailable(GantryError)
        /// The network can be searched (again).
        case available
    }

    /// The newest 16 are kept for a reader that is slow.
    public let events: AsyncStream<Event>

    private let store: DeviceStore
    private let fieldOfUse: @Sendable () -> FieldOfUse
    private let continuation: AsyncStream<Event>.Continuation
    private let lock = Lock()
    private var discovery: Discovery?
    private var usb: USBWatch?
    private var services: [DiscoveredService] = []
    private var scan = USBScan()
    private var last: [DiscoveredProducer] = []
    private var log = AnnouncementLog()

    /// - Parameter fieldOfUse: which producers are shown; asked whenever something changes.
    init(store: DeviceStore, fieldOfUse: @escaping @Sendable () -> FieldOfUse) {
        self.store = store
        self.fieldOfUse = fieldOfUse
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
        let usb = try USBWatch { [weak self] scan in self?.changed { $0.scan = scan } }
        lock.withLock { self.usb = usb }
        // What is plugged in is told before the network says that it cannot be searched.
        changed { $0.scan = USBScan.now() }
        try usb.start()
        try discovery.start()
        _ = discovery.browse(.producer) { [weak self] services in
            self?.changed {
                $0.services = services
                $0.log.note(services, now: MonotonicClock.now())
            }
        }
    }

    /// Ends the search, and `events`.
    public func stop() {
        let (discovery, usb) = lock.withLock { (self.discovery, self.usb) }
        usb?.stop()
        discovery?.stop()
        continuation.finish()
    }

    /// What is there now.
    public var producers: [DiscoveredProducer] { lock.withLock { last } }

    /// How the announcements on the network have fared since `start`, by name; 128 names at most, of all fields of use.
    public var announcements: [AnnouncementStatistics] { lock.withLock { log.statistics } }

    /// Devices on USB that look like a producer and are none: where, and why; for people.
    public var refusedOnUSB: [String] {
        lock.withLock { scan }.refused.map { "The USB device at \($0.port) is no producer: \($0.reason)." }
    }

    private func changed(_ change: (ProducerBrowser) -> Void) {
        let devices = (try? store.devices()) ?? []
        lock.withLock {
            change(self)
            last = DiscoveredProducer.all(services, scan.devices, devices: devices, fieldOfUse: fieldOfUse())
            // Under the lock: two threads tell what they know in turn.
            continuation.yield(.producers(last))
        }
    }
}
