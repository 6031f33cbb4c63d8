import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// One attempt to pair with the studio whose code was scanned: dials the addresses in the code until the deadline of
/// `PairingLimits`, acts as TLS server there, and decides the outcome once.
///
/// A thread "producer-pair" dials; the handshake runs on the carrier's I/O thread.
final class ProducerPairing: @unchecked Sendable {  // What varies is guarded by `state`.
    private let code: PairingCode
    private let identity: Identity
    private let store: DeviceStore
    private let report: @Sendable (ProducerPairingEvent) -> Void
    private let cancelling: EventDescriptor
    private let state = Condition()
    private var machine: PairingProducerStateMachine
    private var outcome: Result<PairedDevice, GantryError>?
    /// The connection that TLS has let in.
    private var active: (carrier: SecureCarrier, peer: CarrierPeer)?
    /// The connection that is being made, from before its TLS handshake on.
    private var dialled: SecureCarrier?

    /// - Throws: `pairingCodeOwn`, `noStudioAnswered` for a code without an address.
    init(
        code: PairingCode, identity: Identity, store: DeviceStore, name: DisplayName, streamPort: UInt16,
        asksForConfirmation: Bool, report: @escaping @Sendable (ProducerPairingEvent) -> Void
    ) throws(GantryError) {
        guard !code.endpoints.isEmpty else {
            throw GantryError(
                .noStudioAnswered,
                "The code holds no address of the studio. Show a new one with `gantry-studio pair --address` and the "
                    + "studio's address in this network.")
        }
        self.code = code
        self.identity = identity
        self.store = store
        self.report = report
        cancelling = try EventDescriptor()
        machine = try PairingProducerStateMachine(
            code: code, ownKeyID: identity.keyID, name: name, model: "gantry", streamPort: streamPort,
            asksForConfirmation: asksForConfirmation, crypto: PairingCryptography.self, now: MonotonicClock.now())
    }

    /// Blocks until the outcome, at most 30 seconds; not on the cooperative pool.
    func run() throws(GantryError) -> PairedDevice {
        report(.searching(seconds: Int(PairingLimits.deadline.microseconds / 1_000_000)))
        while true {
            let (done, deadline) = state.withLock { (outcome, machine.nextDeadline) }
            if let done { return try done.get() }
            guard let deadline else { break }
            attempt(until: deadline)
            // The studio may not listen yet, or another address may be better: again in a moment.
            let next = MonotonicClock.now() + .milliseconds(500)
            state.withLock {
                while outcome == nil, state.wait(until: min(next, deadline)) {}
            }
            perform(state.withLock { machine.timeAdvanced(now: MonotonicClock.now()) })
        }
        throw PairingFailure.timeout.error()
    }

    /// Any thread.
    func cancel() {
        cancelling.signal()
        perform(state.withLock { machine.cancelled() })
        // The other end may hold up the handshake. After it, this changes nothing: the connection is ending already.
        state.withLock { dialled }?.close()
    }

    /// Any thread: what a person says to the comparison number.
    func confirm(_ isSame: Bool) { perform(state.withLock { machine.confirmed(isSame) }) }

    private func attempt(until deadline: MediaTimestamp) {
        for endpoint in code.endpoints {
            if state.withLock({ outcome != nil }) { return }
            do throws(GantryError) {
                let dialLimit = min(deadline, MonotonicClock.now() + .seconds(5))
                let link = try TCPDialer.dial(
                    Endpoint(host: endpoint.host, port: endpoint.port), until: dialLimit, cancel: cancelling)
                let studio = code.studio
                let carrier = try SecureCarrier(
                    link: link, identity: identity,
                    configuration: .init(
                        role: .server, alpn: WireLimits.pairingProtocolName,
                        exporterLabel: PairingLimits.exporterLabel, phase: .pairing, threadName: "producer-pair-io")
                ) { $0 == studio ? .trusted : .unknown }
                let isWanted = state.withLock {
                    dialled = carrier
                    return outcome == nil
                }
                guard isWanted else { return }
                try carrier.start(handler: ProducerPairingConnection(pairing: self, carrier: carrier))
                carrier.join()
            } catch {
                Log.debug("pairing at \(endpoint): \(error)")
            }
        }
    }

    // MARK: From the I/O thread of the connection

    func established(_ peer: CarrierPeer, on carrier: SecureCarrier) {
        let actions = state.withLock {
            active = (carrier, peer)
            return machine.connected(studio: peer.keyID, exporter: peer.exporter)
        }
        report(.studioAnswered)
        perform(actions)
    }

    func received(_ message: ControlMessage) { perform(state.withLock { machine.received(message) }) }

    func deadline(now: MediaTimestamp) -> MediaTimestamp? {
        perform(state.withLock { machine.timeAdvanced(now: now) })
        return state.withLock { machine.nextDeadline }
    }

    func closed() {
        let actions = state.withLock {
            active = nil
            return machine.connectionClosed()
        }
        perform(actions)
    }

    private func perform(_ actions: [PairingAction]) {
        let connection = state.withLock { active }
        for action in actions {
            switch action {
            case .send(let message): connection?.carrier.send(message)
            // The carrier asks for the deadline by itself; only a studio revokes.
            case .scheduleDeadline, .revoke: break
            case .showComparison(let number, let needsAnswer):
                report(.comparison(number, needsAnswer: needsAnswer))
            case .store(let peer): save(peer, connection?.peer)
            case .close: connection?.carrier.close()
            case .finish(.paired): break
            case .finish(.failed(let reason)): finish(.failure(reason.error()))
            }
        }
    }

    private func save(_ peer: PairedPeer, _ connection: CarrierPeer?) {
        guard let connection else { return }
        do throws(GantryError) {
            let device = try store.save(
                PairedDevice(
                    keyID: peer.keyID, publicKeyInfo: connection.publicKeyInfo, kind: .studio,
                    name: peer.name.text, confirmed: peer.isConfirmed, pairedAt: WallClock.now(), lastAddress: nil))
            perform(state.withLock { machine.stored(true) })
            finish(.success(device))
        } catch {
            perform(state.withLock { machine.stored(false) })
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<PairedDevice, GantryError>) {
        state.withLock {
            if outcome == nil { outcome = result }
            state.broadcast()
        }
    }
}
