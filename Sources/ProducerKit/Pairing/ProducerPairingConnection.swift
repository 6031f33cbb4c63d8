import GantryCore
import GantryTransport

/// The carrier's side of a `ProducerPairing`.
final class ProducerPairingConnection: CarrierHandler, @unchecked Sendable {  // All state: the carrier's I/O thread.
    private let pairing: ProducerPairing
    private let carrier: SecureCarrier
    private var receiver = ControlReceiver()
    private var peer: CarrierPeer?

    init(pairing: ProducerPairing, carrier: SecureCarrier) {
        self.pairing = pairing
        self.carrier = carrier
    }

    func carrierEstablished(_ peer: CarrierPeer) {
        self.peer = peer
        pairing.established(peer, on: carrier)
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            if let peer { pairing.received(message, from: peer, on: carrier) }
        }
    }

    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? {
        guard let peer else { return nil }
        return pairing.deadline(now: now, on: carrier, peer)
    }

    func carrierClosed(_ error: GantryError?) { pairing.closed() }
}
