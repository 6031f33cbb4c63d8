/// What the owner of a `TLSEngine` says about a peer's key.
package enum TrustDecision: Sendable, Hashable {
    /// Paired: let it in.
    case trusted
    /// Never heard of: the peer gets the alert `unknown_ca`.
    case unknown
    /// Was paired and has been removed: the peer gets `certificate_revoked`, and so learns that it is unpaired.
    case revoked
}
