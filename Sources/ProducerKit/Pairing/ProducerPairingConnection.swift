import GantryCore
import GantryTransport

/// One connection of a `ProducerPairing`, accepted or dialled.
final class ProducerPairingConnection: CarrierHandler, @unchecked Sendable {
    // `peer` is set on the I/O thread, before the pairing hands this object to any other.
    let carrier: SecureCarrier
    let id: UInt64
    private(set) var peer: CarrierPeer?
    private let pairing: ProducerPairing
    private var receiver = ControlReceiver()

    init(pairing: ProducerPairing, carrier: SecureCarrier, id: UInt64) {
        self.pairing = pairing
        self.carrier = carrier
        self.id = id
    }

    func carrierEstablished(_ peer: CarrierPeer) {
        self.peer = peer
        pairing.established(peer, on: self)
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            pairing.received(message, on: self)
        }
    }

    func carrierBroken(_ error: GantryError) { pairing.closed(self) }
    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? { pairing.deadline(now: now) }
    func carrierClosed(_ error: GantryError?) { pairing.closed(self) }
}
