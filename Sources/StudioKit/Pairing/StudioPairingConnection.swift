import GantryCore
import GantryPlatform
import GantryTransport

/// One producer that has dialled in during a pairing window.
final class StudioPairingConnection: CarrierHandler, @unchecked Sendable {
    // `machine` and `isDeclinedHere` are guarded by `lock`; the rest: I/O thread only.
    private let pairing: StudioPairing
    let carrier: SecureCarrier
    private let id: UInt64
    private var receiver = ControlReceiver()
    private var peer: CarrierPeer?
    private let lock = Lock()
    private var machine: PairingStudioStateMachine?
    private var failure: GantryError?
    private var isDeclinedHere = false

    init(pairing: StudioPairing, carrier: SecureCarrier, id: UInt64) {
        self.pairing = pairing
        self.carrier = carrier
        self.id = id
    }

    func carrierEstablished(_ peer: CarrierPeer) {
        self.peer = peer
        let actions = lock.withLock { () -> [PairingAction]? in
            machine = pairing.machine(for: peer)
            return machine?.connected()
        }
        perform(actions)
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            let now = MonotonicClock.now()
            let actions = lock.withLock {
                pairing.withWindow { machine?.received(message, window: &$0, now: now) }
            }
            perform(actions)
            if lock.withLock({ machine?.isProven }) == true { pairing.proven(id) }
        }
    }

    func carrierBroken(_ error: GantryError) {
        failure = error
        perform(lock.withLock { machine?.connectionClosed() })
    }

    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? {
        perform(lock.withLock { machine?.timeAdvanced(now: now) })
        return lock.withLock { machine?.nextDeadline }
    }

    func carrierClosed(_ error: GantryError?) {
        // A connection that just ends is no attempt: the producer may have another one to us.
        let told = failure
        perform(lock.withLock { machine?.connectionClosed() })
        pairing.ended(id, told)
    }

    /// Any thread: the window closes. The connection ends when the peer has been told, or has been saved.
    func giveUp(_ reason: PairingFailure) {
        // A machine that has ended closes by itself, after its last words: they may not be on their way yet.
        guard let actions = lock.withLock({ machine?.cancelled(reason) }) else { return carrier.close() }
        perform(actions)
    }

    /// Any thread.
    func confirm(_ isSame: Bool) {
        perform(
            lock.withLock {
                isDeclinedHere = !isSame
                return machine?.confirmed(isSame)
            })
    }

    private func perform(_ actions: [PairingAction]?) {
        for action in actions ?? [] {
            switch action {
            case .send(let message): carrier.send(message)
            // The carrier asks for the deadline by itself; only a producer takes back.
            case .scheduleDeadline, .unstore: break
            case .showComparison(let number, let needsAnswer):
                pairing.showComparison(number, needsAnswer: needsAnswer, id: id)
            case .store(let paired):
                guard let peer else { continue }
                let failure = pairing.save(paired, peer)
                perform(lock.withLock { machine?.stored(failure) })
            case .revoke(let keyID): pairing.revoke(keyID)
            case .close: carrier.close()
            case .finish(.paired): break
            case .finish(.failed(let reason)): failure = reason.error(isOwn: lock.withLock { isDeclinedHere })
            }
        }
    }
}
