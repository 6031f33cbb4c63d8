package import GantryCore

/// Who uses a `SecureCarrier`. All calls come on the carrier's I/O thread, one after the other.
package protocol CarrierHandler: AnyObject, Sendable {
    /// TLS stands, and the peer has proved its key. With TLS 1.3 a studio may still be refused by the producer: it
    /// counts as connected only once the first message has come.
    func carrierEstablished(_ peer: CarrierPeer)

    /// A piece of a message. The bytes are valid during the call only.
    ///
    /// - Throws: a protocol error; `carrierBroken` follows.
    func carrierReceived(_ chunk: FrameChunk) throws(GantryError)

    /// The peer broke the protocol. Nothing more will be received; what the handler sends now (BYE) still goes out,
    /// then the connection is closed.
    func carrierBroken(_ error: GantryError)

    /// Called before each wait: does what is due, and says when to be called again at the latest.
    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp?

    /// The end, exactly once and last. Nil: closed in order by either side.
    func carrierClosed(_ error: GantryError?)
}

/// Whom the carrier is connected to, as TLS has proved it.
package struct CarrierPeer: Sendable {
    package let keyID: KeyID
    /// DER SubjectPublicKeyInfo.
    package let publicKeyInfo: [UInt8]
    /// For people, and as a hint where to dial.
    package let address: String
    /// TLS exporter value of the label that the carrier was made with, empty without one.
    package let exporter: [UInt8]
}
