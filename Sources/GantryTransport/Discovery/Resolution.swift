import CAvahi
import GantryCore
import GantryPlatform
import Glibc

/// One answer of a browse and its resolver. Discovery thread only.
final class Resolution {
    private static let firstRetryDelay = MediaDuration.seconds(5)
    private static let longestRetryDelay = MediaDuration.seconds(80)

    private let key: ServiceTable.Key
    private let name: String
    private let type: ServiceType
    private unowned let search: Search
    private var resolver: OpaquePointer?
    private var retryDelay = firstRetryDelay
    /// When a resolver that failed is replaced; it may still find something until then.
    private(set) var retryAt: MediaTimestamp?

    /// - Parameter search: outlives this object.
    init(_ key: ServiceTable.Key, name: String, type: ServiceType, search: Search) {
        self.key = key
        self.name = name
        self.type = type
        self.search = search
    }

    func work(_ client: OpaquePointer, now: MediaTimestamp) {
        if let retryAt {
            if now < retryAt { return }
            end()
        }
        guard resolver == nil else { return }
        guard let domain = String(validating: key.domain, as: UTF8.self) else { return }
        // An address of the protocol that the answer came by: one for each, instead of the faster one twice.
        resolver = avahi_service_resolver_new(
            client, key.interface, key.networkProtocol, name, type.rawValue, domain, key.networkProtocol,
            AvahiLookupFlags(0), resolverChanged, Unmanaged.passUnretained(self).toOpaque())
        if resolver == nil { retryLater(now) }
    }

    func end() {
        if let resolver { avahi_service_resolver_free(resolver) }
        resolver = nil
        retryAt = nil
    }

    private func retryLater(_ now: MediaTimestamp) {
        retryAt = now + retryDelay
        retryDelay = min(retryDelay + retryDelay, Self.longestRetryDelay)
    }

    fileprivate func failed() { retryLater(MonotonicClock.now()) }

    fileprivate func found(_ address: AvahiAddress, port: UInt16, interface: AvahiIfIndex, text: OpaqueTextList?) {
        retryAt = nil
        retryDelay = Self.firstRetryDelay
        guard let address = Self.address(address, port: port, interface: interface) else { return }
        search.resolved(key, address, TextRecord.pairs(of: TextRecord.strings(in: text)))
    }

    /// With the interface as zone where the address is link-local IPv6 (RFC 4007 section 11). Nil for what is no
    /// address of a host: unspecified and multicast ones.
    private static func address(
        _ address: AvahiAddress, port: UInt16, interface: AvahiIfIndex
    ) -> ServiceTable.Address? {
        var text = [CChar](repeating: 0, count: 64)
        var address = address
        guard avahi_address_snprint(&text, text.count, &address) != nil else { return nil }
        let host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let isIPv6 = address.proto == AvahiProtocol(AVAHI_PROTO_INET6)
        let bytes = withUnsafeBytes(of: address.data) { Array($0.prefix(isIPv6 ? 16 : 4)) }
        guard let first = bytes.first, let second = bytes.dropFirst().first, !bytes.allSatisfy({ $0 == 0 }) else {
            return nil
        }
        guard isIPv6 else {
            return 224...239 ~= first ? nil : ServiceTable.Address(host: host, isLinkLocalIPv6: false, port: port)
        }
        if first == 0xFF { return nil }
        let isLinkLocal = first == 0xFE && second & 0xC0 == 0x80
        let zone = isLinkLocal ? "%" + interfaceName(interface) : ""
        return ServiceTable.Address(host: host + zone, isLinkLocalIPv6: isLinkLocal, port: port)
    }

    /// The number, where the interface has gone.
    private static func interfaceName(_ interface: AvahiIfIndex) -> String {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard let index = UInt32(exactly: interface), if_indextoname(index, &name) != nil else { return "\(interface)" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

private func resolverChanged(
    _ resolver: OpaquePointer?, _ interface: AvahiIfIndex, _ networkProtocol: AvahiProtocol,
    _ event: AvahiResolverEvent, _ name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?,
    _ domain: UnsafePointer<CChar>?, _ host: UnsafePointer<CChar>?, _ address: UnsafePointer<AvahiAddress>?,
    _ port: UInt16, _ text: OpaqueTextList?, _ flags: AvahiLookupResultFlags, _ context: UnsafeMutableRawPointer?
) {
    guard let context else { return }
    let resolution = Unmanaged<Resolution>.fromOpaque(context).takeUnretainedValue()
    guard event == AVAHI_RESOLVER_FOUND, let address else { return resolution.failed() }
    resolution.found(address.pointee, port: port, interface: interface, text: text)
}
