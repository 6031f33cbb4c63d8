import GantryCore
import GantryPlatform
import GantryTransport

/// Where the producer of a session may be: the address that was given, or where it was met last together with every place
/// that claims to be it on this network. Hands the addresses to a `DialRace`.
final class ProducerSearch: Sendable {
    /// How long an unknown place is looked for before there is nothing to dial. A cold search takes 0.2 s, a lost packet
    /// makes it 1.2 s (Avahi 0.8).
    static let patience = MediaDuration.seconds(4)
    /// A rogue may claim to be the producer from any number of addresses.
    private static let addressesOfOne = 8

    private let discovery: Discovery?

    /// - Parameters:
    ///   - target: with an endpoint nothing is searched.
    ///   - lastAddress: where it was met last.
    ///   - unavailable: the network cannot be searched.
    init(
        _ target: ProducerTarget, lastAddress: String?, race: DialRace,
        unavailable: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) {
        if let endpoint = target.endpoint {
            discovery = nil
            race.add([endpoint])
            race.complete()
            return
        }
        if let last = lastAddress.flatMap({ Endpoint(text: $0) }) { race.add([last]) }
        let discovery = Discovery { state in
            guard case .unavailable(let error) = state else { return }
            unavailable(error)
            race.complete()
        }
        self.discovery = discovery
        try discovery.start()
        let keyID = target.keyID
        _ = discovery.browse(.producer) { services in
            race.add(services.claimants(of: keyID).endpointsInTurn(ofEach: Self.addressesOfOne))
        }
    }

    func stop() { discovery?.stop() }
}

extension [DiscoveredService] {
    /// Those that say they are the producer with this key; nil: all producers. A claim proves nothing.
    func claimants(of keyID: KeyID?) -> [DiscoveredService] {
        filter { service in
            guard let record = ProducerRecord(text: service.text) else { return false }
            return keyID.map(record.claims) ?? true
        }
    }
}
