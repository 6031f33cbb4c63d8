/// What Gantry looks for on the network (service types of RFC 6763 section 7).
package enum ServiceType: String, Sendable, Hashable, CaseIterable {
    /// A producer that can be reached, as long as it can.
    case producer = "_camo._tcp"
    /// A producer that has scanned a code, until its pairing has ended.
    case pairing = "_camopairing._tcp"
}
