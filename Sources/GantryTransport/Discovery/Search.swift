import CAvahi
import GantryCore
import GantryPlatform
import Glibc

/// One browse as the daemon has it: a service browser, and a resolver for each of its answers, which stays to hear of
/// other addresses and texts. Discovery thread only.
final class Search {
    private static let retryDelay = MediaDuration.seconds(2)

    private let type: ServiceType
    private let gate: CallbackGate
    private let changed: @Sendable ([DiscoveredService]) -> Void
    private var browser: OpaquePointer?
    private var browserFailed = false
    private var retryAt: MediaTimestamp?
    private var resolutions: [ServiceTable.Key: Resolution] = [:]
    private var table = ServiceTable()
    private var isDirty = false
    private var saidFull = false
    private var told: [DiscoveredService] = []

    init(_ type: ServiceType, gate: CallbackGate, changed: @escaping @Sendable ([DiscoveredService]) -> Void) {
        self.type = type
        self.gate = gate
        self.changed = changed
    }

    /// When `work` has something to do without an event.
    var due: MediaTimestamp? {
        let times = resolutions.values.compactMap(\.retryAt)
        guard let first = times.min() else { return retryAt }
        return retryAt.map { min($0, first) } ?? first
    }

    /// Makes what is missing. Only with a client that the daemon answers.
    func work(_ client: OpaquePointer, now: MediaTimestamp) {
        if browserFailed {
            end()
            browserFailed = false
            retryAt = now + Self.retryDelay
        }
        if browser == nil, retryAt.map({ now >= $0 }) ?? true {
            browser = avahi_service_browser_new(
                client, AvahiIfIndex(AVAHI_IF_UNSPEC), AvahiProtocol(AVAHI_PROTO_UNSPEC), type.rawValue, nil,
                AvahiLookupFlags(0), browserChanged, Unmanaged.passUnretained(self).toOpaque())
            retryAt = browser == nil ? now + Self.retryDelay : nil
        }
        for resolution in resolutions.values { resolution.work(client, now: now) }
    }

    /// Tells the list where it differs from the last one.
    func tell() {
        guard isDirty else { return }
        isDirty = false
        let services = table.services(type)
        guard services != told else { return }
        told = services
        if gate.isOpen { changed(services) }
    }

    /// Frees everything at the daemon. The list is empty then.
    func end() {
        for resolution in resolutions.values { resolution.end() }
        if let browser { avahi_service_browser_free(browser) }
        forget()
    }

    /// The client has gone, and the browser and the resolvers with it.
    func forget() {
        resolutions.removeAll()
        browser = nil
        retryAt = nil
        table.removeAll()
        isDirty = true
    }

    func resolved(_ key: ServiceTable.Key, _ address: ServiceTable.Address, _ text: [String: String]) {
        table.resolve(key, address: address, text: text)
        isDirty = true
    }

    fileprivate func appeared(_ key: ServiceTable.Key, client: OpaquePointer) {
        guard let name = String(validating: key.name, as: UTF8.self) else { return }
        switch table.add(key, name: name) {
        case .known: return
        case .full:
            if !saidFull {
                Log.warning("more than \(ServiceTable.maximumEntries) services on the network: some are left out")
            }
            saidFull = true
        case .added:
            let resolution = Resolution(key, name: name, type: type, search: self)
            resolutions[key] = resolution
            resolution.work(client, now: MonotonicClock.now())
        }
    }

    fileprivate func disappeared(_ key: ServiceTable.Key, client: OpaquePointer) {
        let next = table.remove(key)
        if let resolution = resolutions.removeValue(forKey: key) {
            resolution.end()
            isDirty = true
        }
        if let next { appeared(next, client: client) }
    }

    fileprivate func failed(_ code: CInt) {
        Log.debug("browsing \(type.rawValue): \(AvahiFailure.words(code))")
        // Freed by `work`, not inside its own callback.
        browserFailed = true
    }
}

/// Bytes of a C string, without its NUL.
private func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
    guard let text else { return [] }
    return UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
}

private func browserChanged(
    _ browser: OpaquePointer?, _ interface: AvahiIfIndex, _ networkProtocol: AvahiProtocol, _ event: AvahiBrowserEvent,
    _ name: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?, _ domain: UnsafePointer<CChar>?,
    _ flags: AvahiLookupResultFlags, _ context: UnsafeMutableRawPointer?
) {
    guard let browser, let context, let client = avahi_service_browser_get_client(browser) else { return }
    let search = Unmanaged<Search>.fromOpaque(context).takeUnretainedValue()
    if event == AVAHI_BROWSER_FAILURE { return search.failed(avahi_client_errno(client)) }
    let key = ServiceTable.Key(
        interface: interface, networkProtocol: networkProtocol, name: bytes(name), domain: bytes(domain))
    if event == AVAHI_BROWSER_NEW { search.appeared(key, client: client) }
    if event == AVAHI_BROWSER_REMOVE { search.disappeared(key, client: client) }
}
