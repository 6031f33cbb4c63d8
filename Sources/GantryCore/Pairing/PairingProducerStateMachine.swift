/// The producer's side of one pairing attempt, from the code to the outcome. Pure: time is an argument.
///
/// One connection at a time: the owner calls `connected` for the next one only after `close` or `connectionClosed`. The
/// outcome is decided once; every event after it does nothing. A connection that breaks the order of messages is closed and
/// counts for nothing: the attempt goes on until its deadline, so that a broken peer cannot spoil it. What the studio itself
/// says (PAIR_FAIL, after TLS has shown the key that the code names) ends the attempt.
package struct PairingProducerStateMachine: Sendable {
    private enum State {
        /// Advertised, no studio yet.
        case waiting
        case awaitingHello(exporter: [UInt8])
        case awaitingAccept(PairingTranscript, PairedPeer)
        /// The proof is right; a person has to compare the number.
        case awaitingConfirmation(PairedPeer)
        case storing(PairedPeer)
        /// Stored here; the studio says whether it has stored us too.
        case awaitingVerdict(PairedPeer)
        case finished
    }

    private let code: PairingCode
    private let ownKeyID: KeyID
    private let hello: PairHello
    private let asksForConfirmation: Bool
    private let crypto: any PairingCrypto.Type
    private let deadline: MediaTimestamp
    private var state = State.waiting
    private var isConfirmed = false
    private var sawStudio = false

    /// - Throws: `.pairingCodeOwn` when the code names this installation.
    package init(
        code: PairingCode, ownKeyID: KeyID, name: DisplayName, model: String, streamPort: UInt16?,
        asksForConfirmation: Bool, crypto: any PairingCrypto.Type, now: MediaTimestamp
    ) throws(GantryError) {
        guard code.studio != ownKeyID else { throw PairingFailure.ownCode.error() }
        self.code = code
        self.ownKeyID = ownKeyID
        hello = PairHello(name: name, model: model, streamPort: streamPort)
        self.asksForConfirmation = asksForConfirmation
        self.crypto = crypto
        deadline = now + PairingLimits.deadline
    }

    /// When `timeAdvanced` is due; nil after the outcome.
    package var nextDeadline: MediaTimestamp? { isFinished ? nil : deadline }

    package var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// Whether `connected` may come.
    package var isWaiting: Bool {
        if case .waiting = state { true } else { false }
    }

    /// TLS is up with this peer.
    package mutating func connected(studio: KeyID, exporter: [UInt8]) -> [PairingAction] {
        guard case .waiting = state, studio == code.studio, exporter.count == PairingLimits.exporterSize else {
            return [.close]
        }
        sawStudio = true
        state = .awaitingHello(exporter: exporter)
        return [.scheduleDeadline(deadline)]
    }

    package mutating func received(_ message: ControlMessage) -> [PairingAction] {
        switch (state, message) {
        case (.finished, _), (.waiting, _): return []
        case (_, .pairFail(let fail)): return takeBack() + finish(.failed(fail.reason), [.close])
        case (.awaitingHello(let exporter), .pairHello(let studioHello)) where studioHello.proof == nil:
            return answer(studioHello, exporter)
        case (.awaitingAccept(let transcript, let peer), .pairAccept(let accept)):
            return check(accept, transcript, peer)
        case (.awaitingVerdict(let peer), .pairDone): return finish(.paired(peer), [.close])
        default: return dropConnection()
        }
    }

    private mutating func answer(_ studioHello: PairHello, _ exporter: [UInt8]) -> [PairingAction] {
        let transcript = PairingTranscript(
            studio: code.studio, producer: ownKeyID, studioHello: studioHello, producerHello: hello, exporter: exporter)
        do throws(GantryError) {
            let proof = try transcript.proof(of: .producer, secret: code.secret, crypto: crypto)
            let number = try transcript.comparisonNumber(secret: code.secret, crypto: crypto)
            state = .awaitingAccept(
                transcript,
                PairedPeer(
                    keyID: code.studio, role: .studio, name: studioHello.name, model: studioHello.model,
                    streamPort: nil,
                    isConfirmed: false))
            return [
                .send(.pairHello(hello.with(proof: proof))),
                .showComparison(number, asksForConfirmation: asksForConfirmation),
            ]
        } catch {
            return fail(.protocolError)
        }
    }

    private mutating func check(
        _ accept: PairAccept, _ transcript: PairingTranscript, _ peer: PairedPeer
    ) -> [PairingAction] {
        let isRight = try? transcript.verifies(accept.proof, of: .studio, secret: code.secret, crypto: crypto)
        guard isRight == true else { return fail(.badCode) }
        if asksForConfirmation, !isConfirmed {
            state = .awaitingConfirmation(peer)
            return []
        }
        return store(peer)
    }

    private mutating func store(_ peer: PairedPeer) -> [PairingAction] {
        let peer = PairedPeer(
            keyID: peer.keyID, role: peer.role, name: peer.name, model: peer.model, streamPort: peer.streamPort,
            isConfirmed: isConfirmed)
        state = .storing(peer)
        return [.store(peer)]
    }

    /// A person has compared the number, on this end.
    package mutating func confirmed(_ isSame: Bool) -> [PairingAction] {
        switch state {
        case .awaitingAccept, .awaitingConfirmation: break
        case .waiting, .awaitingHello, .storing, .awaitingVerdict, .finished: return []
        }
        guard isSame else { return fail(.declined) }
        isConfirmed = true
        if case .awaitingConfirmation(let peer) = state { return store(peer) }
        return []
    }

    /// The answer to `store`.
    package mutating func stored(_ isSaved: Bool) -> [PairingAction] {
        guard case .storing(let peer) = state else { return [] }
        guard isSaved else { return fail(.storeError) }
        state = .awaitingVerdict(peer)
        return [.send(.pairDone)]
    }

    /// The connection ended or broke, or a message could not be read (the owner closes it).
    package mutating func connectionClosed() -> [PairingAction] {
        switch state {
        case .waiting, .finished, .storing: return []
        case .awaitingHello, .awaitingAccept, .awaitingConfirmation, .awaitingVerdict:
            let undone = takeBack()
            restart()
            return undone
        }
    }

    package mutating func cancelled() -> [PairingAction] { isFinished ? [] : fail(.cancelled) }

    package mutating func timeAdvanced(now: MediaTimestamp) -> [PairingAction] {
        guard !isFinished, now >= deadline else { return [] }
        // While the peer is being saved the outcome hangs on the store alone.
        if case .storing = state { return [] }
        return fail(sawStudio ? .timeout : .noStudioAnswered)
    }

    private mutating func restart() {
        state = .waiting
        isConfirmed = false
    }

    private mutating func dropConnection() -> [PairingAction] {
        if case .storing = state { return [] }
        let undone = takeBack()
        restart()
        return undone + [.send(.pairFail(PairFail(reason: .protocolError))), .close]
    }

    /// What was stored counts only with the studio's word.
    private func takeBack() -> [PairingAction] {
        if case .awaitingVerdict(let peer) = state { [.unstore(peer.keyID)] } else { [] }
    }

    private mutating func fail(_ reason: PairingFailure) -> [PairingAction] {
        if case .waiting = state { return finish(.failed(reason), []) }
        let undone = takeBack()
        return undone + finish(.failed(reason), [.send(.pairFail(PairFail(reason: reason))), .close])
    }

    private mutating func finish(_ result: PairingResult, _ last: [PairingAction]) -> [PairingAction] {
        state = .finished
        return last + [.finish(result)]
    }
}
