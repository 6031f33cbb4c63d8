import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust

/// A studio that keeps to the pairing protocol on one connection, and stores everybody at once.
final class ScriptedStudio: CarrierHandler, @unchecked Sendable {
    // Set in `init`, or on the I/O thread only.
    let carrier: SecureCarrier
    /// It has proved that it knows the code.
    let hasAccepted = Watched(false)
    private let identity: Identity
    private var window: PairingWindow
    private var machine: PairingStudioStateMachine?
    private var receiver = ControlReceiver()

    init(_ link: SocketLink, _ identity: Identity, secret: [UInt8]) throws {
        self.identity = identity
        guard let secret = PairingSecret(bytes: secret) else { throw GantryError(.general, "no secret") }
        window = PairingWindow(secret: secret, now: MonotonicClock.now())
        carrier = try SecureCarrier(
            link: link, identity: identity,
            configuration: .init(
                role: .client, alpn: WireLimits.pairingProtocolName, exporterLabel: PairingLimits.exporterLabel,
                phase: .pairing, threadName: "test-studio")
        ) { _ in .trusted }
        try carrier.start(handler: self)
    }

    func carrierEstablished(_ peer: CarrierPeer) {
        machine = PairingStudioStateMachine(
            ownKeyID: identity.keyID, producer: peer.keyID, exporter: peer.exporter, name: DisplayName("Scripted"),
            model: "test", asksForConfirmation: false, crypto: PairingCryptography.self, now: MonotonicClock.now())
        perform(machine?.connected())
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            perform(machine?.received(message, window: &window, now: MonotonicClock.now()))
        }
    }

    func carrierBroken(_ error: GantryError) {}
    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? { nil }
    func carrierClosed(_ error: GantryError?) {}

    private func perform(_ actions: [PairingAction]?) {
        for action in actions ?? [] {
            switch action {
            case .send(let message):
                carrier.send(message)
                if case .pairAccept = message { hasAccepted.change { $0 = true } }
            case .store: perform(machine?.stored(nil))
            case .close: carrier.close()
            default: break
            }
        }
    }
}

/// A producer that keeps to the pairing protocol on one connection, and stores everybody at once.
final class ScriptedProducer: CarrierHandler, @unchecked Sendable {
    // Set in `init`, or on the I/O thread only.
    let carrier: SecureCarrier
    /// It has proved that it knows the code, and shows its number.
    let hasShown = Watched(false)
    let result = Watched<PairingResult?>(nil)
    private var machine: PairingProducerStateMachine
    private var receiver = ControlReceiver()

    /// Connects to the address in the code, with a key of its own.
    static func dial(_ code: String) async throws -> ScriptedProducer {
        let code = try PairingCode.parse(code)
        return try await onThread { () throws in
            guard let endpoint = code.endpoints.first else { throw GantryError(.general, "no address") }
            let link = try TCPDialer.dial(
                Endpoint(host: endpoint.host, port: endpoint.port), until: MonotonicClock.now() + patience,
                cancel: try EventDescriptor())
            return try ScriptedProducer(link, try Identity(), code)
        }
    }

    private init(_ link: SocketLink, _ identity: Identity, _ code: PairingCode) throws {
        machine = try PairingProducerStateMachine(
            code: code, ownKeyID: identity.keyID, name: DisplayName("Scripted"), model: "test", streamPort: nil,
            asksForConfirmation: false, crypto: PairingCryptography.self, now: MonotonicClock.now())
        carrier = try SecureCarrier(
            link: link, identity: identity,
            configuration: .init(
                role: .server, alpn: WireLimits.pairingProtocolName, exporterLabel: PairingLimits.exporterLabel,
                phase: .pairing, threadName: "test-producer")
        ) { _ in .trusted }
        try carrier.start(handler: self)
    }

    func carrierEstablished(_ peer: CarrierPeer) {
        perform(machine.connected(studio: peer.keyID, exporter: peer.exporter))
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        try receiver.consume(chunk) { message, _ throws(GantryError) in perform(machine.received(message)) }
    }

    func carrierBroken(_ error: GantryError) {}
    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? { nil }
    func carrierClosed(_ error: GantryError?) {}

    private func perform(_ actions: [PairingAction]) {
        for action in actions {
            switch action {
            case .send(let message): carrier.send(message)
            case .showComparison: hasShown.change { $0 = true }
            case .store: perform(machine.stored(true))
            case .close: carrier.close()
            case .finish(let end): result.change { $0 = end }
            default: break
            }
        }
    }
}
