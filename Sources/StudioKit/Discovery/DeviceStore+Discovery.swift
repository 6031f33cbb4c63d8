import GantryCore
import GantryTransport
import GantryTrust

extension DeviceStore {
    /// The paired producer that a service claims to be.
    func device(advertisedAs service: DiscoveredService) throws(GantryError) -> PairedDevice? {
        DiscoveredProducer(service, devices: try devices())?.device
    }
}
