import GantryCore
import GantryPlatform
import GantryTransport

/// Announces a producer as `_camo._tcp` for as long as it can be reached.
final class ProducerAdvert: @unchecked Sendable {  // What varies is guarded by `lock`.
    private let keyID: KeyID
    private let fieldOfUse: FieldOfUse
    private let discovery: Discovery
    private let events: @Sendable (ProducerEvent) -> Void
    private let lock = Lock()
    private var registration: ServiceRegistration?
    private var state = ProducerRecord.State.free

    init(keyID: KeyID, fieldOfUse: FieldOfUse, events: @escaping @Sendable (ProducerEvent) -> Void) {
        self.keyID = keyID
        self.fieldOfUse = fieldOfUse
        self.events = events
        discovery = Discovery { state in
            if case .unavailable(let error) = state { events(.discoveryUnavailable(error)) }
        }
    }

    func start(name: DisplayName, port: UInt16) throws(GantryError) {
        try discovery.start()
        let events = events
        let record = lock.withLock { ProducerRecord(keyID: keyID, state: state, fieldOfUse: fieldOfUse) }
        let registration = discovery.advertise(
            ServiceAdvertisement(type: .producer, name: name.text, port: port, text: record.text)
        ) { events(.advertised(name: DisplayName($0).text)) }
        lock.withLock { self.registration = registration }
    }

    func update(_ new: ProducerRecord.State) {
        let registration = lock.withLock { () -> ServiceRegistration? in
            guard new != state else { return nil }
            state = new
            return self.registration
        }
        registration?.update(text: ProducerRecord(keyID: keyID, state: new, fieldOfUse: fieldOfUse).text)
    }

    /// A goodbye goes out.
    func stop() { discovery.stop() }
}
