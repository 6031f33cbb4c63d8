public import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// The receiving side: pairs with producers and opens sessions with them. Any thread.
public final class StudioController: Sendable {
    private let identity: Identity
    private let store: DeviceStore
    let configured: SettingStore<StudioConfiguration>
    /// Whether paired producers can be received here. It does nothing before `StudioService.start`.
    public let service: StudioService
    private let open = OpenSessions()

    /// Opens (or makes) identity and store of paired devices.
    ///
    /// - Throws: `invalidArgument` for a name that is too long, and `stateFolder`, `identity`, `store`, each with what mends it.
    public init(configuration: StudioConfiguration = StudioConfiguration()) throws(GantryError) {
        try DisplayName.check(configuration.name)
        let folder = try StateFolder.open(configuration.stateDirectory)
        identity = try Identity.loadOrCreate(in: folder)
        store = try DeviceStore.open(in: folder)
        let configured = SettingStore(configuration, StudioSettings.table) { $0.logLevel }
        self.configured = configured
        service = StudioService { [store] in
            ProducerBrowser(store: store) { configured.value.fieldOfUse }
        }
    }

    /// Who this installation is.
    public var keyID: KeyID { identity.keyID }

    // MARK: Pairing

    /// Opens a pairing window; it begins to listen with `StudioPairing.run`.
    ///
    /// - Parameters:
    ///   - address: the address that the code names for producers that do not use mDNS ("192.168.1.5", "fd00::5"); nil:
    ///     that of the first network, or 127.0.0.1 without one.
    ///   - port: 0 lets the system choose.
    ///   - duration: more than zero, at most 5 minutes.
    ///   - asksForConfirmation: waits for `StudioPairing.confirm` before a producer is let in.
    /// - Throws: `invalidArgument` for another address or duration, `portInUse`.
    public func beginPairing(
        address: String? = nil, port: UInt16 = 0, duration: MediaDuration = .seconds(300),
        asksForConfirmation: Bool = false
    ) throws(GantryError) -> StudioPairing {
        try beginPairing(
            address: address, port: port, duration: duration, asksForConfirmation: asksForConfirmation,
            times: .standard)
    }

    package func beginPairing(
        address: String? = nil, port: UInt16 = 0, duration: MediaDuration = .seconds(300),
        asksForConfirmation: Bool = false, times: PairingTimes
    ) throws(GantryError) -> StudioPairing {
        guard duration > .zero, duration <= .seconds(300) else {
            throw GantryError(
                .invalidArgument, "A pairing window is open for 5 minutes at most, not \(duration.seconds) s.")
        }
        var bytes = NetworkInterfaces.pairingAddress()
        if let address {
            guard let given = NetworkInterfaces.parseAddress(address) else {
                throw GantryError(
                    .invalidArgument,
                    "\(DisplayName(address).text) is not an address such as 192.168.1.5 or fd00::5.")
            }
            bytes = given
        }
        return try StudioPairing(
            context, addresses: [bytes], port: port, duration: duration,
            asksForConfirmation: asksForConfirmation, times: times)
    }

    /// All paired devices, studios and producers.
    public var pairedDevices: [PairedDevice] {
        get throws(GantryError) { try store.devices() }
    }

    /// The one device whose name, or beginning of key, this is.
    public func pairedDevice(named name: String) throws(GantryError) -> PairedDevice { try store.find(name) }

    /// Forgets a device at once: it can no longer connect, and a session that stands is ended. A producer that can be
    /// reached is told, so that it forgets us too; blocks for that, 2 seconds at most: not on the cooperative pool.
    public func removePairedDevice(_ keyID: KeyID) throws(GantryError) {
        let device = try store.device(keyID: keyID)
        _ = try store.remove(keyID: keyID, now: WallClock.now())
        guard let device, device.state == .active, device.lastAddress != nil else { return }
        Farewell(context, device).say()
    }

    /// Connects to a paired producer without taking media, and says goodbye: for whoever wants to know that it works.
    /// Blocks for 5 seconds at most: not on the cooperative pool.
    ///
    /// - Parameters:
    ///   - device: the producer.
    ///   - searches: looks for it on the network as well, not only where it was met last.
    /// - Throws: why the producer does not let us in.
    public func checkConnection(to device: PairedDevice, searches: Bool = true) throws(GantryError) {
        try BriefSession(context, device: device, searches: searches, limit: .seconds(5)).run(goodbye: .normal)
    }

    private var context: StudioSession.Context {
        let configuration = configured.value
        return .init(
            identity: identity, store: store, name: DisplayName(configuration.name ?? HostName.current),
            fieldOfUse: configuration.fieldOfUse, service: service)
    }

    /// Calls a device otherwise, on this machine alone.
    public func renamePairedDevice(_ keyID: KeyID, to alias: String) throws(GantryError) {
        _ = try store.rename(keyID: keyID, to: alias)
    }

    // MARK: Discovery

    /// Shows which producers of the studio's field of use are on this network; it searches from `ProducerBrowser.start` on.
    public func makeBrowser() -> ProducerBrowser {
        ProducerBrowser(store: store) { [configured] in configured.value.fieldOfUse }
    }

    // MARK: Receiving

    /// What `text` means: "HOST:PORT", "usb" or "usb:SERIAL", a URL as in rtsp://host/stream, the name of a paired producer, or nil for the only one.
    ///
    /// - Throws: `notPaired` when nobody is paired, `unknownDevice`, `invalidArgument` when several fit.
    public func target(_ text: String?) throws(GantryError) -> ProducerTarget {
        let known = try store.devices().filter { $0.kind == .producer }
        let producers = known.filter { $0.state == .active }
        if let text {
            guard !DisplayName.sanitized(text, graphemes: 1, bytes: DisplayName.maximumBytes).isEmpty else {
                throw GantryError(.invalidArgument, "The producer's name is empty. Leave it out, or give one.")
            }
            if text == "usb" { return ProducerTarget(usbSerial: "") }
            if text.hasPrefix("usb:") { return ProducerTarget(usbSerial: String(text.dropFirst(4))) }
            if text.contains("://") { return try ProducerTarget(url: text) }
            guard let endpoint = try endpoint(text) else { return ProducerTarget(try find(text)) }
            guard !known.isEmpty else { throw Self.nobodyPaired }
            return ProducerTarget(endpoint: endpoint)
        }
        guard let device = producers.first else { throw known.first.map(Self.removed) ?? Self.nobodyPaired }
        guard producers.count == 1 else {
            let names = producers.map(\.displayedName).joined(separator: ", ")
            throw GantryError(
                .invalidArgument, "Several producers are paired: \(names). Name one of them.")
        }
        return ProducerTarget(device)
    }

    /// An address, with or without a port; nil for what can only be a device's name.
    private func endpoint(_ text: String) throws(GantryError) -> Endpoint? {
        if let endpoint = Endpoint(text: text) { return endpoint }
        let isAddress = NetworkInterfaces.parseIPv4(text) != nil || text.hasPrefix("[")
        if isAddress, let endpoint = Endpoint(text: text, defaultPort: Endpoint.defaultPort) { return endpoint }
        guard text.contains(":"), (try? store.find(text)) == nil else { return nil }
        throw GantryError(
            .invalidArgument,
            "\(DisplayName(text).text) is not an address with port, such as 192.168.1.20:7787 or [fe80::1%eth0]:7787.")
    }

    private func find(_ name: String) throws(GantryError) -> PairedDevice {
        do throws(GantryError) {
            let device = try store.find(name)
            if device.state == .rejectedByPeer { throw Self.removed(device) }
            return device
        } catch {
            guard error.code == .unknownDevice else { throw error }
            let names = try store.devices().filter { $0.kind == .producer }.map(\.displayedName)
            let slip = Spelling.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
            let file = name.hasPrefix("/") ? " A file is written file://\(DisplayName(name).text)." : ""
            throw GantryError(
                .unknownDevice,
                "No paired producer is called \(DisplayName(name).text).\(slip)\(file) `gantry-studio devices list` shows "
                    + "those that are paired; to pair another one, run `gantry-studio pair` here and "
                    + "`gantry-producer pair` there.")
        }
    }

    /// It is not dialled by itself any more.
    private static func removed(_ device: PairedDevice) -> GantryError {
        GantryError(
            .unpairedByPeer,
            "\(device.displayedName) has removed this studio. Pair again: `gantry-studio pair` here and "
                + "`gantry-producer pair` there.")
    }

    package static var nobodyPaired: GantryError {
        let plugged = USBScan.now().devices.first
        let cable = plugged.map { " One is on USB: gantry-studio receive \($0.description)" } ?? ""
        return GantryError(
            .notPaired,
            "No producer is paired. Run `gantry-studio pair` here and `gantry-producer pair` there.\(cable)")
    }

    /// Makes a session with `target`; it connects with `StudioSession.start`.
    public func makeSession(
        _ target: ProducerTarget, configuration: StudioSessionConfiguration = StudioSessionConfiguration()
    ) -> StudioSession {
        var context = context
        context.open = open
        return StudioSession(context: context, target: target, configuration: configuration)
    }

    /// Makes a session with `target` and starts it.
    ///
    /// - Throws: as `StudioSession.start`.
    public func subscribe(
        to target: ProducerTarget, configuration: StudioSessionConfiguration = StudioSessionConfiguration(),
        delegate: (any StudioSessionDelegate)? = nil
    ) throws(GantryError) -> StudioSession {
        let session = makeSession(target, configuration: configuration)
        if let delegate { session.delegate = delegate }
        try session.start()
        return session
    }

    /// The sessions that have been started and have not ended, in that order. They go on without the controller.
    public var sessions: [StudioSession] { open.all }
}
