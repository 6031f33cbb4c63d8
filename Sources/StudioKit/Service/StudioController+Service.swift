public import GantryCore
import GantryPlatform

extension StudioController {
    /// The networks of this machine now: interfaces, addresses, and what Wi-Fi it is in. Blocks for some milliseconds.
    public static var networkInformation: NetworkInformation { .now() }

    /// Proves which paired producers can be reached here: connects to each that says it is, without taking media, and says
    /// goodbye. Blocks, for 5 seconds a producer at most: not on the cooperative pool. Those that let us in, by their keys;
    /// empty when nobody does.
    ///
    /// `service` must run; what it knows is where this looks.
    ///
    /// - Throws: `invalidState` when the service does not run.
    public func proveVenue() throws(GantryError) -> [PairedDevice] {
        let status = service.status
        guard !status.state.reasons.contains(.notRunning) else {
            throw GantryError(.invalidState, "The service does not run: call service.start() first.")
        }
        return prove(status.producers)
    }

    /// Those that let us in.
    func prove(_ devices: [PairedDevice]) -> [PairedDevice] {
        var proved: [PairedDevice] = []
        for device in devices {
            do throws(GantryError) {
                try checkConnection(to: device)
                proved.append(device)
            } catch {
                Log.info("\(device.displayedName) is not proved to be here: \(error)")
            }
        }
        return proved
    }
}
