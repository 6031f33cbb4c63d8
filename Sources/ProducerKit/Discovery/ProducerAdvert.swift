import GantryCore
import GantryPlatform
import GantryTransport

/// Announces a producer as `_camo._tcp` for as long as it can be reached.
final class ProducerAdvert: @unchecked Sendable {  // What varies is guarded by `lock`.
    private let discovery: Discovery
    private let events: @Sendable (ProducerEvent) -> Void
    private let lock = Lock()
    private var registration: ServiceRegistration?
    private var record: ProducerRecord

    init(keyID: KeyID, fieldOfUse: FieldOfUse, events: @escaping @Sendable (ProducerEvent) -> Void) {
        record = ProducerRecord(keyID: keyID, state: .free, fieldOfUse: fieldOfUse)
        self.events = events
        discovery = Discovery { state in
            if case .unavailable(let error) = state { events(.discoveryUnavailable(error)) }
        }
    }

    func start(name: DisplayName, port: UInt16) throws(GantryError) {
        try discovery.start()
        let events = events
        let text = lock.withLock { record.text }
        let registration = discovery.advertise(
            ServiceAdvertisement(type: .producer, name: name.text, port: port, text: text)
        ) { events(.advertised(name: DisplayName($0).text)) }
        lock.withLock { self.registration = registration }
    }

    func update(_ new: ProducerRecord.State) { change { $0.state = new } }
    func update(_ new: FieldOfUse) { change { $0.fieldOfUse = new } }

    private func change(_ change: (inout ProducerRecord) -> Void) {
        let (registration, new) = lock.withLock { () -> (ServiceRegistration?, ProducerRecord) in
            let former = record
            change(&record)
            return (record == former ? nil : self.registration, record)
        }
        registration?.update(text: new.text)
    }

    /// A goodbye goes out.
    func stop() { discovery.stop() }
}
