public import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// A pairing window of a studio: shows a code, finds producers that have scanned it, lets producers dial in, and pairs with
/// the first that proves that it has seen the code.
///
/// The code changes every two minutes. The window ends at `cancel()`, after its time (5 minutes at most), or 35 seconds after
/// the success: until then a second device with the same code raises the alarm. Made by `StudioController.beginPairing`.
///
/// Threads: "studio-pair" (time), "studio-accept", "studio-dial", one I/O thread a connection.
public final class StudioPairing: @unchecked Sendable {  // What varies is guarded by `state`.
    /// What a user interface shows.
    public enum Event: Sendable {
        /// The code to show from now on, and for how long.
        case code(String, lifeSeconds: Int)
        /// Six digits that must be the same at the producer. With `needsAnswer`, pairing waits for
        /// `StudioPairing.confirm`.
        case comparison(String, needsAnswer: Bool)
        /// The number of the last `comparison` needs no answer any more: its attempt has ended.
        case comparisonEnded
        /// Somebody tried and failed; the window stays open. Told eight times at most.
        case attemptFailed(GantryError)
        /// A producer that is paired already is on this network: it can be received at once. Its name is safe to print.
        case pairedProducerFound(name: String)
        /// The network cannot be searched; producers can still dial the address in the code.
        case discoveryUnavailable(GantryError)
        /// After the success a second device came with the same code: the first one has been removed again.
        case alarm(GantryError)
    }

    /// Connections that we dialled and that have not proved the secret yet; of one machine as few as may come from it.
    private static let maximumDialled = 32
    private static let mostFailuresTold = 8
    /// With more characters the QR code does not fit into 80 x 24 (version 5 at level M, alphanumeric: 122).
    private static let longestWithName = 122

    private let context: StudioSession.Context
    private let asksForConfirmation: Bool
    private let endpoints: [PairingEndpoint]
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
    private var connections: [UInt64: StudioPairingConnection] = [:]
    /// Those of `connections` that we dialled: where, and whether they have proved the secret.
    private var dialled: [UInt64: (endpoint: Endpoint, isProven: Bool)] = [:]
    /// Comparison numbers that wait for an answer; the first one is shown.
    private var questions: [(id: UInt64, number: String)] = []
    /// Whose number is shown now: the first of `questions`.
    private var asked: UInt64?
    private var search: PairingSearch?
    private var thread: NamedThread?
    private var farewell: NamedThread?
    private var nextID: UInt64 = 0
    private var outcome: Result<PairedDevice, GantryError>?
    private var kept: (any Sendable)?
    /// Two keys knew the secret: no record of this window may stay.
    private var isAlarmed = false
    private var isClosed = false
    private var failuresTold = 0
    private var producersTold: Set<String> = []

    init(
        _ context: StudioSession.Context, addresses: [[UInt8]], port: UInt16, duration: MediaDuration,
        asksForConfirmation: Bool, times: PairingTimes
    ) throws(GantryError) {
        self.context = context
        self.asksForConfirmation = asksForConfirmation
        let listener = try TCPListener(port: port)
        self.listener = listener
        endpoints = addresses.compactMap { PairingEndpoint(address: $0, port: listener.port) }
        let now = MonotonicClock.now()
        ends = now + min(duration, PairingLimits.window)
        window = PairingWindow(secret: try Self.freshSecret(), now: now, times: times)
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    }

    deinit { continuation.finish() }

    private static func freshSecret() throws(GantryError) -> PairingSecret {
        var bytes = PairingCryptography.randomBytes(PairingLimits.secretSize)
        defer { PairingCryptography.zero(&bytes) }
        guard let secret = PairingSecret(bytes: bytes) else {
            throw GantryError(.general, "The kernel gave no random bytes.")
        }
        return secret
    }

    // MARK: Any thread

    /// The code as text, as it stands in the QR code; empty once the window is closed. Whoever has it can pair: not for
    /// logs.
    public var code: String {
        let (secret, life) = state.withLock { (window.current, remainingLife(now: MonotonicClock.now())) }
        guard let secret else { return "" }
        func text(_ name: DisplayName?) -> String {
            PairingCode(
                studio: context.identity.keyID, secret: secret, endpoints: endpoints, name: name, life: max(1, life)
            ).text()
        }
        var full = text(context.name)
        if full.utf8.count <= Self.longestWithName { return full }
        SecretText.wipe(&full)
        return text(nil)
    }

    /// Holds `object` for as long as this window has secrets.
    package func keepUntilClosed(_ object: any Sendable) { state.withLock { kept = object } }

    /// When the window closes by itself, on `CLOCK_MONOTONIC`.
    public var deadline: MediaTimestamp { ends }

    /// Why the pairing was taken back after it had succeeded; nil when it was not.
    public var alarm: GantryError? { state.withLock { isAlarmed } ? PairingFailure.codeShared.error() : nil }

    /// The answer to `Event.comparison`: whether the producer shows the same digits.
    ///
    /// - Parameters:
    ///   - isSame: whether it does.
    ///   - number: the digits that were compared. An answer to another question than the one that is open (its producer
    ///     may have gone, and another one may be asked about by now) does nothing.
    public func confirm(_ isSame: Bool, number: String) {
        let connection = state.withLock { () -> StudioPairingConnection? in
            guard let first = questions.first, first.id == asked, first.number == number else { return nil }
            questions.removeFirst()
            asked = nil
            return connections[first.id]
        }
        guard let connection else { return }
        connection.confirm(isSame)
        askNext()
    }

    /// Closes the window; `run` throws `pairingCancelled`.
    public func cancel() { finish(.failure(PairingFailure.cancelled.error(isOwn: true))) }

    /// Ends the guard that follows a success, and waits until everything is closed. Any number of times.
    public func close() {
        cancel()
        let thread = state.withLock { () -> NamedThread? in
            isClosed = true
            state.broadcast()
            return self.thread
        }
        thread?.join()
    }

    /// Opens the window and blocks until a producer is paired or the window has ended. For a thread of its own, not the
    /// cooperative pool. Once only.
    ///
    /// - Throws: `pairingCancelled`, `pairingTimeout`, `store`, `pairingProof` when two devices knew the code.
    public func run() throws(GantryError) -> PairedDevice {
        let thread: NamedThread
        do throws(GantryError) {
            try listener.start(threadName: "studio-accept") { [self] link, host in accept(link, from: host) }
            startSearch()
            announceCode()
            thread = try NamedThread("studio-pair") { [self] in watch() }
        } catch {
            closeAll()
            throw error
        }
        let result = state.withLock { () -> Result<PairedDevice, GantryError>? in
            self.thread = thread
            while outcome == nil { state.wait() }
            return outcome
        }
        if case .failure? = result { thread.join() }
        // The alarm may have come while the last connections were ended.
        guard let final = state.withLock({ outcome }) else { throw Self.windowClosed }
        return try final.get()
    }

    private static let windowClosed = GantryError(
        .pairingTimeout, "No producer has scanned the code in time. Run `gantry-studio pair` again.")

    private func finish(_ result: Result<PairedDevice, GantryError>) {
        state.withLock {
            if outcome == nil { outcome = result }
            state.broadcast()
        }
    }
}

// MARK: - The window's thread

extension StudioPairing {
    /// Lets time pass until the window, or the guard after a success, is over.
    private func watch() {
        while true {
            let now = MonotonicClock.now()
            if now >= ends { finish(.failure(Self.windowClosed)) }
            if state.withLock({ window.needsRotation(now: now) }) { rotate(now: now) }
            let isOver = state.withLock { () -> Bool in
                if isWatchOver(now: now) { return true }
                _ = state.wait(until: window.guardEnds ?? min(ends, window.nextDeadline))
                return isWatchOver(now: MonotonicClock.now())
            }
            if isOver { return closeAll() }
        }
    }

    /// Under the lock.
    private func isWatchOver(now: MediaTimestamp) -> Bool {
        switch outcome {
        case nil: false
        case .failure: true
        case .success: isClosed || now >= (window.guardEnds ?? now)
        }
    }

    private func rotate(now: MediaTimestamp) {
        guard let secret = try? Self.freshSecret() else { return }
        state.withLock { window.rotated(to: secret, now: now) }
        state.withLock { search }?.codeChanged()
        announceCode()
    }

    private func announceCode() {
        let life = state.withLock { remainingLife(now: MonotonicClock.now()) }
        continuation.yield(.code(code, lifeSeconds: life))
    }

    /// Seconds that the shown code still counts. Under the lock.
    private func remainingLife(now: MediaTimestamp) -> Int {
        min(window.life(now: now), Int(clamping: max(0, (ends - now).microseconds) / 1_000_000))
    }

    private func closeAll() {
        listener.stop()
        let (search, open) = state.withLock { (self.search, Array(connections.values)) }
        search?.stop()
        let reason: PairingFailure = alarm == nil ? .cancelled : .codeShared
        for connection in open { connection.giveUp(reason) }
        for connection in open { connection.carrier.join() }
        let farewell = state.withLock { () -> NamedThread? in
            window.close()
            return self.farewell
        }
        farewell?.join()
        state.withLock { kept = nil }
        continuation.finish()
    }
}

// MARK: - Ways to us

extension StudioPairing {
    private func startSearch() {
        do throws(GantryError) {
            let search = try PairingSearch(
                until: ends + PairingLimits.grace,
                .init(
                    rendezvous: { [weak self] in self?.rendezvous ?? [] },
                    connected: { [weak self] in self?.dialled($0, $1) },
                    producersChanged: { [weak self] in self?.producersChanged($0) },
                    unavailable: { [continuation] in continuation.yield(.discoveryUnavailable($0)) }))
            state.withLock { self.search = search }
            try search.start()
        } catch {
            continuation.yield(.discoveryUnavailable(error))
        }
    }

    private var rendezvous: Set<String> {
        let secrets = state.withLock { window.knownSecrets(now: MonotonicClock.now()) }
        return Set(
            secrets.compactMap { try? PairingTranscript.rendezvous(secret: $0, crypto: PairingCryptography.self) })
    }

    private func producersChanged(_ services: [DiscoveredService]) {
        for service in services {
            guard let device = try? context.store.device(advertisedAs: service), device.state == .active else {
                continue
            }
            let isNew = state.withLock { producersTold.insert(device.displayedName).inserted }
            if isNew { continuation.yield(.pairedProducerFound(name: device.displayedName)) }
        }
    }

    private func accept(_ link: SocketLink, from host: String) {
        let (id, decision) = state.withLock { () -> (UInt64, AdmissionControl.Decision) in
            nextID &+= 1
            return (nextID, admission.connected(nextID, from: host, now: MonotonicClock.now()))
        }
        guard case .admit(let evicted) = decision else { return link.close() }
        if let evicted { state.withLock { connections[evicted] }?.carrier.close(afterSending: false) }
        start(link, id: id)
    }

    private func dialled(_ link: SocketLink, _ endpoint: Endpoint) {
        let id = state.withLock { () -> UInt64? in
            let unproven = dialled.values.filter { !$0.isProven }
            guard unproven.count < Self.maximumDialled,
                unproven.count(where: { $0.endpoint.host == endpoint.host }) < PairingLimits.socketsPerAddress
            else { return nil }
            nextID &+= 1
            dialled[nextID] = (endpoint, false)
            return nextID
        }
        if let id { return start(link, id: id) }
        link.close()
        state.withLock { search }?.postponed(endpoint)
    }

    private func start(_ link: SocketLink, id: UInt64) {
        do throws(GantryError) {
            // Any key may try: the proof of the code decides. The producer is the TLS server, whoever dialled.
            let carrier = try SecureCarrier(
                link: link, identity: context.identity,
                configuration: .init(
                    role: .client, alpn: WireLimits.pairingProtocolName, exporterLabel: PairingLimits.exporterLabel,
                    phase: .pairing, threadName: "studio-pair-io")
            ) { _ in .trusted }
            let connection = StudioPairingConnection(pairing: self, carrier: carrier, id: id)
            state.withLock { connections[id] = connection }
            try carrier.start(handler: connection)
        } catch {
            ended(id, nil)
        }
    }
}

// MARK: - From the I/O threads of the connections

extension StudioPairing {
    func machine(for peer: CarrierPeer) -> PairingStudioStateMachine {
        PairingStudioStateMachine(
            ownKeyID: context.identity.keyID, producer: peer.keyID, exporter: peer.exporter, name: context.name,
            model: "gantry",
            asksForConfirmation: asksForConfirmation, crypto: PairingCryptography.self, now: MonotonicClock.now())
    }

    func withWindow(_ body: (inout PairingWindow) -> [PairingAction]?) -> [PairingAction]? {
        state.withLock { body(&window) }
    }

    /// Two keys knew the secret: the first one is taken back, and nobody is paired.
    func revoke(_ keyID: KeyID) {
        let device = try? context.store.device(keyID: keyID)
        let error = PairingFailure.codeShared.error()
        // Also where the first one has succeeded already. Told before the record is removed: whoever saves one looks
        // afterwards, so that none stays whichever comes first.
        state.withLock {
            isAlarmed = true
            outcome = .failure(error)
            state.broadcast()
        }
        _ = try? context.store.remove(keyID: keyID, now: WallClock.now())
        continuation.yield(.alarm(error))
        guard let device else { return }
        // Not on this I/O thread, which has the second device to refuse.
        let farewell = try? NamedThread("studio-farewell") { [context] in Farewell(context, device).say() }
        state.withLock { self.farewell = farewell }
    }

    func showComparison(_ number: String, needsAnswer: Bool, id: UInt64) {
        guard needsAnswer else {
            continuation.yield(.comparison(number, needsAnswer: false))
            return
        }
        state.withLock { questions.append((id, number)) }
        askNext()
    }

    /// One question at a time: an answer is for the number that is shown.
    private func askNext() {
        let number = state.withLock { () -> String? in
            guard asked == nil, let first = questions.first else { return nil }
            asked = first.id
            return first.number
        }
        if let number { continuation.yield(.comparison(number, needsAnswer: true)) }
    }

    func proven(_ id: UInt64) {
        state.withLock {
            admission.settled(id)
            dialled[id]?.isProven = true
        }
    }

    /// Nil when the peer was saved, else why not.
    func save(_ peer: PairedPeer, _ connection: CarrierPeer) -> PairingFailure? {
        do throws(GantryError) {
            let earlier = try context.store.device(keyID: peer.keyID)
            let address = peer.streamPort.flatMap { port in
                Endpoint(text: connection.address).map { Endpoint(host: $0.host, port: port).description }
            }
            let device = try context.store.save(
                PairedDevice(
                    keyID: peer.keyID, publicKeyInfo: connection.publicKeyInfo, kind: .producer, name: peer.name.text,
                    confirmed: peer.isConfirmed, pairedAt: WallClock.now(), lastAddress: address))
            let refusal = state.withLock { () -> PairingFailure? in
                if isAlarmed { return .codeShared }
                switch outcome {
                case nil: outcome = .success(device)
                case .success: break
                case .failure: return .cancelled
                }
                state.broadcast()
                return nil
            }
            guard let refusal else { return nil }
            // Alarmed, cancelled or too late while it was written: `run` says that nobody is paired, so that nobody is.
            if let earlier, refusal == .cancelled {
                _ = try context.store.save(earlier)
            } else {
                _ = try context.store.remove(keyID: peer.keyID, now: WallClock.now())
            }
            return refusal
        } catch {
            finish(.failure(error))
            return .storeError
        }
    }

    /// - Parameter failure: what the peer did wrong, or said; nil for a connection that just ended.
    func ended(_ id: UInt64, _ failure: GantryError?) {
        let (endpoint, search, isTold, isAsked) = state.withLock { () -> (Endpoint?, PairingSearch?, Bool, Bool) in
            let isAsked = asked == id
            if isAsked { asked = nil }
            questions.removeAll { $0.id == id }
            let endpoint = dialled.removeValue(forKey: id)?.endpoint
            connections[id] = nil
            admission.settled(id)
            // Once the window is decided, whoever is still there only learns that; it is no attempt that failed.
            let isTold = failure != nil && outcome == nil && failuresTold < Self.mostFailuresTold
            if isTold { failuresTold += 1 }
            return (endpoint, self.search, isTold, isAsked)
        }
        if let endpoint { search?.ended(endpoint) }
        if isAsked { continuation.yield(.comparisonEnded) }
        if isTold, let failure { continuation.yield(.attemptFailed(failure)) }
        if isAsked { askNext() }
    }
}
