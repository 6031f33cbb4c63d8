/// What a SubjectPublicKeyInfo (RFC 5280 section 4.1, DER) must look like to be a key of ours or of a peer.
///
/// Both kinds have one fixed length and a fixed beginning, so each key has exactly one form, and one id.
package enum PublicKeyInfo {
    /// SEQUENCE { SEQUENCE { 1.3.101.112 }, BIT STRING of 32 bytes }, RFC 8410 section 4.
    private static let ed25519: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
    /// SEQUENCE { SEQUENCE { ecPublicKey, prime256v1 }, BIT STRING of an uncompressed point }, RFC 5480 section 2.
    private static let p256: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
    /// No accepted key is longer.
    static let maximumSize = 91

    static func isEd25519(_ bytes: some Collection<UInt8>) -> Bool { bytes.count == 44 && bytes.starts(with: ed25519) }
    static func isP256(_ bytes: some Collection<UInt8>) -> Bool { bytes.count == 91 && bytes.starts(with: p256) }
    package static func isAccepted(_ bytes: some Collection<UInt8>) -> Bool { isEd25519(bytes) || isP256(bytes) }
}
