/// The studio's side of one pairing connection. Pure: time is an argument.
///
/// The studio dials every candidate, so there are several of these at once; `PairingWindow` keeps what they share. A message
/// out of order, or a wrong proof, ends the connection.
package struct PairingStudioStateMachine: Sendable {
    private enum State {
        case starting
        case awaitingHello
        case awaitingConfirmation(PairingTranscript, PairingSecret, PairedPeer)
        case awaitingDone(PairedPeer)
        case storing(PairedPeer)
        case finished
    }

    private let ownKeyID: KeyID
    private let producer: KeyID
    private let exporter: [UInt8]
    private let hello: PairHello
    private let asksForConfirmation: Bool
    private let crypto: any PairingCrypto.Type
    private let started: MediaTimestamp
    private var state = State.starting
    private var deadline: MediaTimestamp

    /// `exporter`: 32 bytes of the TLS connection with `producer`.
    package init(
        ownKeyID: KeyID, producer: KeyID, exporter: [UInt8], name: DisplayName, model: String,
        asksForConfirmation: Bool,
        crypto: any PairingCrypto.Type, now: MediaTimestamp
    ) {
        self.ownKeyID = ownKeyID
        self.producer = producer
        self.exporter = exporter
        hello = PairHello(name: name, model: model)
        self.asksForConfirmation = asksForConfirmation
        self.crypto = crypto
        started = now
        deadline = now + PairingLimits.unproven
    }

    package var nextDeadline: MediaTimestamp? { isFinished ? nil : deadline }

    package var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// The peer has proved that it knows the secret.
    package var isProven: Bool {
        switch state {
        case .starting, .awaitingHello, .finished: false
        case .awaitingConfirmation, .awaitingDone, .storing: true
        }
    }

    /// TLS is up. The first event.
    package mutating func connected() -> [PairingAction] {
        guard case .starting = state else { return [] }
        guard producer != ownKeyID, exporter.count == PairingLimits.exporterSize else { return fail(.ownCode) }
        state = .awaitingHello
        return [.send(.pairHello(hello)), .scheduleDeadline(deadline)]
    }

    /// `window` tells which secrets count now, and learns who has proved one.
    package mutating func received(
        _ message: ControlMessage, window: inout PairingWindow, now: MediaTimestamp
    ) -> [PairingAction] {
        switch (state, message) {
        case (.finished, _), (.storing, _): return []
        case (_, .pairFail(let fail)): return finish(.failed(fail.reason), [.close])
        case (.awaitingHello, .pairHello(let producerHello)): return check(producerHello, &window, now)
        case (.awaitingDone(let peer), .pairDone):
            let verdict = window.finished(by: producer, now: now)
            guard verdict == .accepted else { return refuse(verdict) }
            state = .storing(peer)
            return [.store(peer)]
        default: return fail(.protocolError)
        }
    }

    private mutating func check(
        _ producerHello: PairHello, _ window: inout PairingWindow, _ now: MediaTimestamp
    ) -> [PairingAction] {
        guard let proof = producerHello.proof else { return fail(.protocolError) }
        let transcript = PairingTranscript(
            studio: ownKeyID, producer: producer, studioHello: hello, producerHello: producerHello, exporter: exporter)
        var right: PairingSecret?
        for secret in window.knownSecrets(now: now)
        where (try? transcript.verifies(proof, of: .producer, secret: secret, crypto: crypto)) == true {
            right = secret
        }
        guard let right else { return fail(.badCode) }
        let verdict = window.proved(by: producer, now: now)
        guard verdict == .accepted else { return refuse(verdict) }
        guard let number = try? transcript.comparisonNumber(secret: right, crypto: crypto) else {
            return fail(.protocolError)
        }
        let peer = PairedPeer(
            keyID: producer, role: .producer, name: producerHello.name, model: producerHello.model,
            streamPort: producerHello.streamPort, isConfirmed: asksForConfirmation)
        deadline = started + PairingLimits.deadline
        let shown: [PairingAction] = [
            .scheduleDeadline(deadline), .showComparison(number, asksForConfirmation: asksForConfirmation),
        ]
        if asksForConfirmation {
            state = .awaitingConfirmation(transcript, right, peer)
            return shown
        }
        return shown + accept(transcript, right, peer)
    }

    private mutating func refuse(_ verdict: PairingWindow.Verdict) -> [PairingAction] {
        switch verdict {
        case .alarm(let first):
            // The peer is told first: the alarm closes everything.
            var actions = fail(.codeShared)
            actions.insert(.revoke(first), at: actions.count - 1)
            return actions
        case .shared: return fail(.codeShared)
        case .used, .accepted: return fail(.codeUsed)
        }
    }

    private mutating func accept(
        _ transcript: PairingTranscript, _ secret: PairingSecret, _ peer: PairedPeer
    ) -> [PairingAction] {
        guard let proof = try? transcript.proof(of: .studio, secret: secret, crypto: crypto) else {
            return fail(.protocolError)
        }
        state = .awaitingDone(peer)
        return [.send(.pairAccept(PairAccept(proof: proof)))]
    }

    /// A person has compared the number, on this end.
    package mutating func confirmed(_ isSame: Bool) -> [PairingAction] {
        guard case .awaitingConfirmation(let transcript, let secret, let peer) = state else { return [] }
        return isSame ? accept(transcript, secret, peer) : fail(.declined)
    }

    /// The answer to `store`: nil when the peer was saved, else why not.
    package mutating func stored(_ failure: PairingFailure?) -> [PairingAction] {
        guard case .storing(let peer) = state else { return [] }
        if let failure { return fail(failure) }
        return finish(.paired(peer), [.send(.pairDone), .close])
    }

    /// The connection ended or broke, or a message could not be read.
    package mutating func connectionClosed() -> [PairingAction] {
        switch state {
        case .finished, .storing: []
        case .starting, .awaitingHello, .awaitingConfirmation, .awaitingDone: finish(.failed(.protocolError), [.close])
        }
    }

    /// The window closes: the peer is told why. While it is being saved, the outcome hangs on the store alone.
    package mutating func cancelled(_ reason: PairingFailure = .cancelled) -> [PairingAction] {
        switch state {
        case .finished, .storing: []
        case .starting, .awaitingHello, .awaitingConfirmation, .awaitingDone: fail(reason)
        }
    }

    package mutating func timeAdvanced(now: MediaTimestamp) -> [PairingAction] {
        guard !isFinished, now >= deadline else { return [] }
        if case .storing = state { return [] }
        return fail(.timeout)
    }

    private mutating func fail(_ reason: PairingFailure) -> [PairingAction] {
        finish(.failed(reason), [.send(.pairFail(PairFail(reason: reason))), .close])
    }

    private mutating func finish(_ result: PairingResult, _ last: [PairingAction]) -> [PairingAction] {
        state = .finished
        return last + [.finish(result)]
    }
}
