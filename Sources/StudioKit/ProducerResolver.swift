import GantryCore
import GantryTransport
import GantryTrust

/// Finds out where a paired producer can be dialled. The seam for discovery: another resolver can look on the network.
protocol ProducerResolver: Sendable {
    /// The addresses to try, best first; empty when unknown.
    func endpoints(of device: PairedDevice) -> [Endpoint]
}

/// Knows where each producer was met last.
struct LastAddressResolver: ProducerResolver {
    func endpoints(of device: PairedDevice) -> [Endpoint] {
        device.lastAddress.flatMap { Endpoint(text: $0) }.map { [$0] } ?? []
    }
}
