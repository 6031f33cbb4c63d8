import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// One attempt to pair with the studio whose code was scanned: lets the studio find it by `_camopairing._tcp`, dials the
/// addresses in the code as well, acts as TLS server on every connection, and decides the outcome once.
///
/// The caller's thread dials; "producer-accept" takes connections; handshakes run on the I/O thread of each connection.
final class ProducerPairing: @unchecked Sendable {  // What varies is guarded by `state`.
    /// Between two rounds of dialling the addresses in the code.
    private static let pause = MediaDuration.milliseconds(500)
    private static let dialLimit = MediaDuration.seconds(5)

    private let code: PairingCode
    private let identity: Identity
    private let store: DeviceStore
    private let report: @Sendable (ProducerPairingEvent) -> Void
    /// Wakes the dialling thread: cancelled, or decided.
    private let ending: EventDescriptor
    private let state = Condition()
    private var machine: PairingProducerStateMachine
    private var outcome: Result<PairedDevice, GantryError>?
    /// Cancelled, or declined, at this end.
    private var isEndedHere = false
    private var admission = AdmissionControl(
        maximumUnproven: PairingLimits.sockets, maximumPerHost: PairingLimits.socketsPerAddress,
        maximumPerSecond: PairingLimits.acceptsPerSecond)
    private var connections: [UInt64: ProducerPairingConnection] = [:]
    private var nextID: UInt64 = 0
    /// The connection that TLS has let in: one at a time.
    private var active: ProducerPairingConnection?
    /// Why `save` wrote nothing.
    private var storeFailure: GantryError?
    /// What `save` has written, and what was there before.
    private var saved: (device: PairedDevice, earlier: PairedDevice?)?

    /// - Throws: `pairingCodeOwn`.
    init(
        code: PairingCode, identity: Identity, store: DeviceStore, name: DisplayName, streamPort: UInt16,
        asksForConfirmation: Bool, report: @escaping @Sendable (ProducerPairingEvent) -> Void
    ) throws(GantryError) {
        self.code = code
        self.identity = identity
        self.store = store
        self.report = report
        ending = try EventDescriptor()
        machine = try PairingProducerStateMachine(
            code: code, ownKeyID: identity.keyID, name: name, model: "gantry", streamPort: streamPort,
            asksForConfirmation: asksForConfirmation, crypto: PairingCryptography.self, now: MonotonicClock.now())
    }

    /// Blocks until the outcome, at most 30 seconds; not on the cooperative pool.
    func run() throws(GantryError) -> PairedDevice {
        report(.searching(seconds: Int(PairingLimits.deadline.microseconds / 1_000_000)))
        let listener = try TCPListener(port: 0)
        try listener.start(threadName: "producer-accept") { [self] link, host in accept(link, from: host) }
        let discovery = Discovery { [self] in discoveryChanged($0) }
        advertise(on: discovery, port: listener.port)
        let result = dialUntilDecided()
        listener.stop()
        discovery.stop()
        let open = state.withLock { Array(connections.values) }
        for connection in open { connection.carrier.close() }
        for connection in open { connection.carrier.join() }
        return try result.get()
    }

    /// Any thread.
    func cancel() {
        endHere { $0.cancelled() }
        ending.signal()
    }

    /// Any thread: what a person says to the comparison number.
    func confirm(_ isSame: Bool) {
        if !isSame { return endHere { $0.confirmed(false) } }
        act { machine.confirmed(true) }
    }

    private func endHere(_ event: (inout PairingProducerStateMachine) -> [PairingAction]) {
        act {
            let wasFinished = machine.isFinished
            let actions = event(&machine)
            if !wasFinished && machine.isFinished { isEndedHere = true }
            return actions
        }
    }

    // MARK: Being found

    private func advertise(on discovery: Discovery, port: UInt16) {
        do throws(GantryError) {
            let rendezvous = try PairingTranscript.rendezvous(secret: code.secret, crypto: PairingCryptography.self)
            // Says nothing about who is looking: the name is random, `r` means something to this studio alone.
            let name = Base32.encode(PairingCryptography.randomBytes(PairingLimits.rendezvousSize))
            try discovery.start()
            _ = discovery.advertise(
                ServiceAdvertisement(type: .pairing, name: name, port: port, text: ["r": rendezvous]))
        } catch {
            discoveryChanged(.unavailable(error))
        }
    }

    private func discoveryChanged(_ new: DiscoveryState) {
        guard case .unavailable(let error) = new else { return }
        report(.discoveryUnavailable(error))
        guard code.endpoints.isEmpty else { return }
        finish(
            .failure(
                GantryError(
                    .noStudioAnswered,
                    "The code holds no address of the studio, and the network cannot be searched. Show a new one "
                        + "that holds the studio's address in this network (with the tools: gantry-studio pair "
                        + "--address IP).",
                    cause: error.message)))
    }

    // MARK: The caller's thread

    private func dialUntilDecided() -> Result<PairedDevice, GantryError> {
        while true {
            let now = MonotonicClock.now()
            act { machine.timeAdvanced(now: now) }
            let (done, deadline, isBusy) = state.withLock { (outcome, machine.nextDeadline, active != nil) }
            if let done { return done }
            guard let deadline else { return decided() }
            if !isBusy { dial(until: deadline) }
            // The studio may not listen yet, or a connection is being used: again in a moment. So it is after the
            // deadline, while the store is written.
            let soon = MonotonicClock.now() + Self.pause
            let wanted = code.endpoints.isEmpty ? deadline : min(deadline, soon)
            let next = wanted > MonotonicClock.now() ? wanted : soon
            state.withLock {
                while outcome == nil, state.wait(until: next) {}
            }
        }
    }

    /// The state machine has ended; whoever ended it is about to say how.
    private func decided() -> Result<PairedDevice, GantryError> {
        state.withLock {
            while true {
                if let outcome { return outcome }
                state.wait()
            }
        }
    }

    private func dial(until deadline: MediaTimestamp) {
        guard !code.endpoints.isEmpty, let race = try? DialRace() else { return }
        race.add(code.endpoints.flatMap(NetworkInterfaces.endpoints))
        race.complete()
        race.run(until: deadline, limit: Self.dialLimit, cancel: ending) { endpoint, result in
            switch result {
            case .connected(let link): connect(link)
            case .failed(let error): Log.debug("pairing at \(endpoint): \(error)")
            }
            return state.withLock { outcome == nil && active == nil }
        }
    }

    // MARK: Connections

    private func accept(_ link: SocketLink, from host: String) {
        let (id, decision) = state.withLock { () -> (UInt64, AdmissionControl.Decision) in
            nextID &+= 1
            return (nextID, admission.connected(nextID, from: host, now: MonotonicClock.now()))
        }
        guard case .admit(let evicted) = decision else { return link.close() }
        if let evicted { state.withLock { connections[evicted] }?.carrier.close(afterSending: false) }
        start(link, id: id)
    }

    private func connect(_ link: SocketLink) {
        let id = state.withLock { () -> UInt64 in
            nextID &+= 1
            return nextID
        }
        start(link, id: id)
    }

    private func start(_ link: SocketLink, id: UInt64) {
        do throws(GantryError) {
            let studio = code.studio
            let carrier = try SecureCarrier(
                link: link, identity: identity,
                configuration: .init(
                    role: .server, alpn: WireLimits.pairingProtocolName,
                    exporterLabel: PairingLimits.exporterLabel, phase: .pairing, threadName: "producer-pair-io")
            ) { $0 == studio ? .trusted : .unknown }
            let connection = ProducerPairingConnection(pairing: self, carrier: carrier, id: id)
            let isWanted = state.withLock {
                if outcome == nil { connections[id] = connection }
                return outcome == nil
            }
            if isWanted { try carrier.start(handler: connection) }
        } catch {
            Log.debug("pairing with \(link.peerAddress): \(error)")
            state.withLock {
                connections[id] = nil
                admission.settled(id)
            }
        }
    }

    // MARK: From the I/O threads of the connections

    func established(_ peer: CarrierPeer, on connection: ProducerPairingConnection) {
        let actions = state.withLock { () -> [PairingAction]? in
            admission.settled(connection.id)
            // The machine may still be with a connection that has gone: the studio is being stored.
            guard active == nil, machine.isWaiting else { return nil }
            active = connection
            return machine.connected(studio: peer.keyID, exporter: peer.exporter)
        }
        // The studio came twice, by its own dialling and by ours: one is enough.
        guard let actions else { return connection.carrier.close(afterSending: false) }
        report(.studioAnswered)
        perform(actions, on: connection)
    }

    func received(_ message: ControlMessage, on connection: ProducerPairingConnection) {
        act { active === connection ? machine.received(message) : [] }
    }

    func deadline(now: MediaTimestamp) -> MediaTimestamp? {
        act { machine.timeAdvanced(now: now) }
        return state.withLock { machine.nextDeadline }
    }

    func closed(_ connection: ProducerPairingConnection) {
        let actions = state.withLock { () -> [PairingAction] in
            connections[connection.id] = nil
            admission.settled(connection.id)
            guard active === connection else { return [] }
            defer {
                active = nil
                state.broadcast()
            }
            return machine.connectionClosed()
        }
        perform(actions, on: connection)
    }

    /// What the state machine decides, and the connection that it decides about, are taken at one moment: the connection
    /// may be gone, or another one in its place, when it is carried out.
    private func act(_ event: () -> [PairingAction]) {
        let (actions, connection) = state.withLock { (event(), active) }
        perform(actions, on: connection)
    }

    private func perform(_ actions: [PairingAction], on connection: ProducerPairingConnection?) {
        for action in actions {
            switch action {
            case .send(let message): connection?.carrier.send(message)
            // The carrier asks for the deadline by itself; only a studio revokes.
            case .scheduleDeadline, .revoke: break
            case .showComparison(let number, let needsAnswer):
                report(.comparison(number, needsAnswer: needsAnswer))
            case .store(let peer): save(peer, connection)
            case .unstore(let keyID): takeBack(keyID)
            case .close: connection?.carrier.close()
            case .finish(.paired): finishSaved()
            case .finish(.failed(let reason)):
                // The store's own words say more than the reason on the wire.
                finish(.failure(state.withLock { storeFailure ?? reason.error(isOwn: isEndedHere) }))
            }
        }
    }

    // MARK: The store

    private func save(_ peer: PairedPeer, _ connection: ProducerPairingConnection?) {
        do throws(GantryError) {
            guard let key = connection?.peer?.publicKeyInfo else {
                throw GantryError(.general, "The studio showed no key. Pair again.")
            }
            let earlier = try store.device(keyID: peer.keyID)
            let device = try store.save(
                PairedDevice(
                    keyID: peer.keyID, publicKeyInfo: key, kind: .studio,
                    name: peer.name.text, confirmed: peer.isConfirmed, pairedAt: WallClock.now(), lastAddress: nil))
            let actions = state.withLock { () -> [PairingAction] in
                saved = (device, earlier)
                let actions = machine.stored(true)
                // Gone meanwhile: its studio will not say any more that it has stored us.
                return active === connection ? actions : machine.connectionClosed()
            }
            perform(actions, on: connection)
        } catch {
            let actions = state.withLock { () -> [PairingAction] in
                storeFailure = error
                return machine.stored(false)
            }
            perform(actions, on: connection)
        }
    }

    private func takeBack(_ keyID: KeyID) {
        let earlier = state.withLock { () -> PairedDevice? in
            defer { saved = nil }
            return saved?.earlier
        }
        do throws(GantryError) {
            if let earlier {
                _ = try store.save(earlier)
            } else {
                _ = try store.remove(keyID: keyID, now: WallClock.now())
            }
        } catch {
            Log.error("\(error)")
        }
    }

    private func finishSaved() {
        guard let device = state.withLock({ saved?.device }) else { return }
        finish(.success(device))
    }

    private func finish(_ result: Result<PairedDevice, GantryError>) {
        state.withLock {
            if outcome == nil { outcome = result }
            state.broadcast()
        }
        ending.signal()
    }
}
