/// What a finished handshake knows about the other end, for the store.
package struct PairedPeer: Hashable, Sendable {
    package let keyID: KeyID
    package let role: SessionRole
    package let name: DisplayName
    package let model: String
    /// Of a producer: where it listens for sessions; nil when it does not.
    package let streamPort: UInt16?
    /// Two people compared the number.
    package let isConfirmed: Bool

    package init(
        keyID: KeyID, role: SessionRole, name: DisplayName, model: String, streamPort: UInt16?, isConfirmed: Bool
    ) {
        self.keyID = keyID
        self.role = role
        self.name = name
        self.model = model
        self.streamPort = streamPort
        self.isConfirmed = isConfirmed
    }
}

/// How a pairing ended. Decided once.
package enum PairingResult: Hashable, Sendable {
    case paired(PairedPeer)
    case failed(PairingFailure)
}

/// What the owner of a pairing state machine has to do, in this order.
package enum PairingAction: Hashable, Sendable {
    case send(ControlMessage)
    /// Call `timeAdvanced` at this time or later. Replaces the earlier deadline.
    case scheduleDeadline(MediaTimestamp)
    /// Show the six digits on this end. When confirmation is wanted, ask, and call `confirmed`.
    case showComparison(String, asksForConfirmation: Bool)
    /// Save the peer, then call `stored`.
    case store(PairedPeer)
    /// Producer: the studio has not stored us. Undo the `store` of this key: the record that it replaced comes back.
    case unstore(KeyID)
    /// The alarm: two keys knew the secret. Revoke this key, which was stored before, and warn the person.
    case revoke(KeyID)
    /// End the connection, after what was sent has left.
    case close
    /// The end; comes exactly once, and nothing but `close` comes after it.
    case finish(PairingResult)
}
