public import GantryCore
import GantryTransport

/// A producer on this network, as it describes itself. A value. Who it is, is proved only when it is connected.
public struct DiscoveredProducer: Sendable, Hashable, Identifiable {
    /// What it does just now.
    public enum State: String, Sendable, Hashable {
        /// Nobody receives.
        case free
        /// Somebody receives; another studio may join.
        case active
        /// It sends nothing until it goes on.
        case paused
        /// It takes no more studios.
        case full
    }

    /// The instance name on the network, fit for showing.
    public var name: String
    /// Where it can be dialled, best first.
    public var endpoints: [Endpoint]
    public var state: State
    /// The paired device that it claims to be; nil: not paired with this studio.
    public var device: PairedDevice?

    /// The name on the network, which is unique there.
    public var id: String { name }
    /// The name to show and to type: that of the paired device, where it is one.
    public var displayedName: String { device?.displayedName ?? name }

    init?(_ service: DiscoveredService, devices: [PairedDevice]) {
        guard let record = ProducerRecord(text: service.text), !service.endpoints.isEmpty else { return nil }
        name = DisplayName(service.name).text
        endpoints = service.endpoints
        device = devices.first { $0.kind == .producer && record.claims($0.keyID) }
        state =
            switch record.state {
            case .free: .free
            case .active: .active
            case .paused: .paused
            case .full: .full
            }
    }
}
