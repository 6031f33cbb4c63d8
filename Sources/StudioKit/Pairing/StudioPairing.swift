public import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// A pairing window of a studio: shows a code, lets producers dial in, and pairs with the first that proves that it
/// has seen the code.
///
/// The window closes at the first success, at `cancel()`, or after its time (5 minutes at most). The code changes every
/// two minutes. Made by `StudioController.beginPairing`.
public final class StudioPairing: @unchecked Sendable {  // What varies is guarded by `state`.
    /// What a user interface shows.
    public enum Event: Sendable {
        /// The code to show from now on, and for how long.
        case code(String, lifeSeconds: Int)
        /// Six digits that must be the same at the producer. With `needsAnswer`, pairing waits for
        /// `StudioPairing.confirm`.
        case comparison(String, needsAnswer: Bool)
        /// A producer that is paired already is on this network: it can be received at once. Its name is safe to print.
        case pairedProducerFound(name: String)
        /// The network cannot be searched; producers can still dial the address in the code.
        case discoveryUnavailable(GantryError)
        /// Somebody tried and failed; the window stays open.
        case attemptFailed(GantryError)
    }

    private let identity: Identity
    private let store: DeviceStore
    private let name: DisplayName
    private let asksForConfirmation: Bool
    private let endpoint: PairingEndpoint
    private let ends: MediaTimestamp
    private let listener: TCPListener
    private let continuation: AsyncStream<Event>.Continuation
    /// Newest 16 are kept. Ends with the window.
    public let events: AsyncStream<Event>

    private let state = Condition()
    private var window: PairingWindow
    private var admission = AdmissionControl(
        maximumUnproven: PairingLimits.sockets, maximumPerHost: PairingLimits.socketsPerAddress,
        maximumPerSecond: PairingLimits.acceptsPerSecond)
    private var connections: [UInt64: SecureCarrier] = [:]
    private var handlers: [UInt64: StudioPairingConnection] = [:]
    private var nextID: UInt64 = 0
    private var outcome: Result<PairedDevice, GantryError>?
    /// Two keys knew the secret: no record of this window may stay.
    private var isAlarmed = false

    init(
        identity: Identity, store: DeviceStore, name: DisplayName, address: [UInt8], port: UInt16,
        duration: MediaDuration, asksForConfirmation: Bool
    ) throws(GantryError) {
        self.identity = identity
        self.store = store
        self.name = name
        self.asksForConfirmation = asksForConfirmation
        listener = try TCPListener(port: port)
        endpoint = .ipv4(address: address, port: listener.port)
        let now = MonotonicClock.now()
        ends = now + min(duration, PairingLimits.window)
        window = PairingWindow(secret: try Self.freshSecret(), now: now)
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    private static func freshSecret() throws(GantryError) -> PairingSecret {
        var bytes = PairingCryptography.randomBytes(PairingLimits.secretSize)
        defer { PairingCryptography.zero(&bytes) }
        guard let secret = PairingSecret(bytes: bytes) else {
            throw GantryError(.general, "The kernel gave no random bytes.")
        }
        return secret
    }

    // MARK: Any thread

    /// The code as text, as it stands in the QR code. Whoever has it can pair: not for logs.
    public var code: String {
        let (secret, life) = state.withLock { (window.current, window.life(now: MonotonicClock.now())) }
        return PairingCode(
            studio: identity.keyID, secret: secret, endpoints: [endpoint], name: name, life: max(1, life)
        ).text()
    }

    /// Closes the window; `run` throws `pairingCancelled`.
    public func cancel() { finish(.failure(PairingFailure.cancelled.error())) }

    /// When the window closes by itself, on `CLOCK_MONOTONIC`.
    public var deadline: MediaTimestamp { ends }

    /// The answer to `Event.comparison`: whether the producer shows the same digits.
    public func confirm(_ isSame: Bool) {
        for connection in state.withLock({ Array(handlers.values) }) { connection.confirm(isSame) }
    }

    /// Opens the window and blocks until its end. For a thread of its own, not the cooperative pool.
    ///
    /// - Throws: `pairingCancelled`, `pairingTimeout`, `store`.
    public func run() throws(GantryError) -> PairedDevice {
        try listener.start(threadName: "studio-pair") { [self] link, host in accept(link, from: host) }
        announceCode()
        while true {
            let now = MonotonicClock.now()
            if now >= ends { finish(.failure(Self.windowClosed)) }
            if state.withLock({ window.needsRotation(now: now) }) { rotate(now: now) }
            let done = state.withLock { () -> Result<PairedDevice, GantryError>? in
                if outcome == nil { _ = state.wait(until: min(ends, window.nextDeadline)) }
                return outcome
            }
            guard let done else { continue }
            closeAll()
            // The alarm may have come while the last connections were ended.
            return try (state.withLock { outcome } ?? done).get()
        }
    }

    private static let windowClosed = GantryError(
        .pairingTimeout, "No producer has scanned the code in time. Run `gantry-studio pair` again.")

    private func rotate(now: MediaTimestamp) {
        guard let secret = try? Self.freshSecret() else { return }
        state.withLock { window.rotated(to: secret, now: now) }
        announceCode()
    }

    private func announceCode() {
        let life = state.withLock { window.life(now: MonotonicClock.now()) }
        continuation.yield(.code(code, lifeSeconds: life))
    }

    private func closeAll() {
        listener.stop()
        let open = state.withLock { Array(connections.values) }
        for carrier in open { carrier.close() }
        for carrier in open { carrier.join() }
        continuation.finish()
    }

    private func finish(_ result: Result<PairedDevice, GantryError>) {
        state.withLock {
            if outcome == nil { outcome = result }
            state.broadcast()
        }
    }

    // MARK: Listener thread

    private func accept(_ link: SocketLink, from host: String) {
        let (id, decision) = state.withLock { () -> (UInt64, AdmissionControl.Decision) in
            nextID &+= 1
            return (nextID, admission.connected(nextID, from: host, now: MonotonicClock.now()))
        }
        guard case .admit(let evicted) = decision else { return link.close() }
        if let evicted, let carrier = state.withLock({ connections[evicted] }) { carrier.close(afterSending: false) }
        do throws(GantryError) {
            // Any key may try: the proof of the code decides. The producer is the TLS server, also where it dials.
            let carrier = try SecureCarrier(
                link: link, identity: identity,
                configuration: .init(
                    role: .client, alpn: WireLimits.pairingProtocolName, exporterLabel: PairingLimits.exporterLabel,
                    phase: .pairing, threadName: "studio-pair-io")
            ) { _ in .trusted }
            let handler = StudioPairingConnection(pairing: self, carrier: carrier, id: id)
            state.withLock {
                connections[id] = carrier
                handlers[id] = handler
            }
            try carrier.start(handler: handler)
        } catch {
            state.withLock {
                connections[id] = nil
                handlers[id] = nil
                admission.settled(id)
            }
        }
    }

    // MARK: I/O threads of the connections

    func machine(for peer: CarrierPeer) -> PairingStudioStateMachine {
        PairingStudioStateMachine(
            ownKeyID: identity.keyID, producer: peer.keyID, exporter: peer.exporter, name: name, model: "gantry",
            asksForConfirmation: asksForConfirmation, crypto: PairingCryptography.self, now: MonotonicClock.now())
    }

    func withWindow(_ body: (inout PairingWindow) -> [PairingAction]?) -> [PairingAction]? {
        state.withLock { body(&window) }
    }

    /// Two keys knew the secret: the first one is taken back, and nobody is paired.
    func revoke(_ keyID: KeyID) {
        let error = GantryError(
            .pairingProof, "Two devices knew the code: somebody else has seen it. Both were refused; pair again.")
        // Also where the first one has succeeded already. Told before the record is removed: whoever saves one looks
        // afterwards, so that none stays whichever comes first.
        state.withLock {
            isAlarmed = true
            outcome = .failure(error)
            state.broadcast()
        }
        _ = try? store.remove(keyID: keyID, now: WallClock.now())
    }

    func showComparison(_ number: String, needsAnswer: Bool) {
        continuation.yield(.comparison(number, needsAnswer: needsAnswer))
    }

    func proven(_ id: UInt64) { state.withLock { admission.settled(id) } }

    /// Whether the peer was saved.
    func save(_ peer: PairedPeer, _ connection: CarrierPeer) -> Bool {
        do throws(GantryError) {
            let address = peer.streamPort.flatMap { port in
                Endpoint(text: connection.address).map { Endpoint(host: $0.host, port: port).description }
            }
            let device = try store.save(
                PairedDevice(
                    keyID: peer.keyID, publicKeyInfo: connection.publicKeyInfo, kind: .producer, name: peer.name.text,
                    confirmed: peer.isConfirmed, pairedAt: WallClock.now(), lastAddress: address))
            guard !state.withLock({ isAlarmed }) else {
                _ = try store.remove(keyID: peer.keyID, now: WallClock.now())
                return false
            }
            finish(.success(device))
            return true
        } catch {
            finish(.failure(error))
            return false
        }
    }

    func ended(_ id: UInt64, _ failure: GantryError?) {
        state.withLock {
            connections[id] = nil
            handlers[id] = nil
            admission.settled(id)
        }
        if let failure { continuation.yield(.attemptFailed(failure)) }
    }
}
