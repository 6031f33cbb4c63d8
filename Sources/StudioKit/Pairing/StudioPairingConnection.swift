import GantryCore
import GantryPlatform
import GantryTransport

/// One producer that has dialled in during a pairing window.
final class StudioPairingConnection: CarrierHandler, @unchecked Sendable {  // All state: the carrier's I/O thread.
    private let pairing: StudioPairing
    private let carrier: SecureCarrier
    private let id: UInt64
    private var receiver = ControlReceiver()
    private var peer: CarrierPeer?
    private var machine: PairingStudioStateMachine?
    private var failure: GantryError?

    init(pairing: StudioPairing, carrier: SecureCarrier, id: UInt64) {
        self.pairing = pairing
        self.carrier = carrier
        self.id = id
    }

    func carrierEstablished(_ peer: CarrierPeer) {
        self.peer = peer
        machine = pairing.machine(for: peer)
        perform(machine?.connected())
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            let now = MonotonicClock.now()
            perform(pairing.withWindow { machine?.received(message, window: &$0, now: now) })
            if machine?.isProven == true { pairing.proven(id) }
        }
    }

    func carrierBroken(_ error: GantryError) {
        failure = error
        perform(machine?.connectionClosed())
    }

    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? {
        perform(machine?.timeAdvanced(now: now))
        return machine?.nextDeadline
    }

    func carrierClosed(_ error: GantryError?) {
        perform(machine?.connectionClosed())
        pairing.ended(id, failure ?? error)
    }

    private func perform(_ actions: [PairingAction]?) {
        for action in actions ?? [] {
            switch action {
            case .send(let message): carrier.send(message)
            case .scheduleDeadline: break
            case .showComparison(let number, _): pairing.showComparison(number)
            case .store(let paired):
                guard let peer else { continue }
                let isSaved = pairing.save(paired, peer)
                perform(machine?.stored(isSaved))
            case .revoke(let keyID): pairing.revoke(keyID)
            case .close: carrier.close()
            case .finish(.paired): break
            case .finish(.failed(let reason)): failure = reason.error()
            }
        }
    }
}
