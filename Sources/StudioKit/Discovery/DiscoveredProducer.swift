public import GantryCore
import GantryTransport

/// A producer on this network or on USB, as it describes itself. A value. Who it is, is proved only when it is connected.
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
        /// It is on USB, and nothing is known but that.
        case plugged
    }

    /// The instance name on the network, fit for showing; of one that is on USB alone what the device calls itself.
    public var name: String
    /// Where it can be dialled, best first.
    public var endpoints: [Endpoint]
    /// Its serial number on USB, or its socket when it has none; nil: it is not plugged in.
    public var usbSerial: String?
    /// What it does, as it says itself.
    public var state: State
    /// The paired device that it claims to be; nil: not paired with this studio.
    public var device: PairedDevice?

    /// What it says that it sends for; empty for one that is on USB alone, which tells when it is connected.
    public var fieldOfUse: FieldOfUse

    /// The name on the network, which is unique there; on USB alone "usb:SERIAL".
    public var id: String { endpoints.isEmpty ? "usb:" + (usbSerial ?? "") : name }
    /// The name to show and to type: that of the paired device, where it is one.
    public var displayedName: String { device?.displayedName ?? name }

    init?(_ service: DiscoveredService, devices: [PairedDevice]) {
        guard let record = ProducerRecord(text: service.text), !service.endpoints.isEmpty else { return nil }
        name = DisplayName(service.name).text
        endpoints = service.endpoints
        device = devices.first { $0.kind == .producer && record.claims($0.keyID) }
        usbSerial = nil
        fieldOfUse = record.fieldOfUse
        state =
            switch record.state {
            case .free: .free
            case .active: .active
            case .paused: .paused
            case .full: .full
            }
    }

    /// One that is on USB, and not on the network or not known to be there.
    init(_ plugged: USBDevice, device: PairedDevice?) {
        name = plugged.product.isEmpty ? "Gantry producer" : plugged.product
        endpoints = []
        usbSerial = plugged.name
        self.device = device
        fieldOfUse = FieldOfUse()
        state = .plugged
    }

    /// All that are there and, as far as they say, of the field: a paired producer that is on the network and on USB is
    /// one.
    static func all(
        _ services: [DiscoveredService], _ plugged: [USBDevice], devices: [PairedDevice],
        fieldOfUse: FieldOfUse = FieldOfUse()
    ) -> [DiscoveredProducer] {
        var found = services.compactMap { DiscoveredProducer($0, devices: devices) }
            .filter { fieldOfUse.matches($0.fieldOfUse) }
        for device in plugged {
            // A claim, as everything here.
            let known = devices.first { $0.kind == .producer && device.claims($0.keyID) }
            if let known, let index = found.firstIndex(where: { $0.device?.keyID == known.keyID }) {
                found[index].usbSerial = device.name
            } else {
                found.append(DiscoveredProducer(device, device: known))
            }
        }
        return found
    }
}
