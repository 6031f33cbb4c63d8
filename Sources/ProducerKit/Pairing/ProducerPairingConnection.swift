import GantryCore
import GantryTransport

/// The carrier's side of a `ProducerPairing`.
final class ProducerPairingConnection: CarrierHandler, @unchecked Sendable {  // All state: the carrier's I/O thread.
    private let pairing: ProducerPairing
    private let carrier: SecureCarrier
    private var receiver = ControlReceiver()

    init(pairing: ProducerPairing, carrier: SecureCarrier) {
        self.pairing = pairing
        self.carrier = carrier
    }

    func carrierEstablished(_ peer: CarrierPeer) {
        pairing.established(peer, on: carrier)
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            pairing.received(message)
        }
    }

    func carrierBroken(_ error: GantryError) { pairing.closed() }

    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? {
        pairing.deadline(now: now)
    }

    func carrierClosed(_ error: GantryError?) { pairing.closed() }
}
