/// What both ends prove: the same secret, on this TLS connection, between these two keys, after these two hellos.
///
/// ```
/// T        = SHA-256("gantry-pair-v1" ‖ keyID_S ‖ keyID_P ‖ u32 n ‖ hello_S (n bytes) ‖ u32 m ‖ hello_P (m bytes))
/// K(label) = HKDF-SHA-256(salt = exporter, ikm = secret, info = "gantry-pair-v1 " ‖ label, 32 bytes)
/// proofP   = HMAC(K("producer"), T)    proofS = HMAC(K("studio"), T)
/// number   = first 8 bytes of HMAC(K("comparison"), T), big-endian, modulo 1 000 000
/// ```
/// `hello_P` is the payload without its last field, the proof. A pure value.
package struct PairingTranscript: Sendable {
    package static let label = "gantry-pair-v1"

    private let message: [UInt8]
    /// 32 bytes of the TLS exporter (RFC 8446 section 7.5) of this connection.
    private let exporter: [UInt8]

    package init(studio: KeyID, producer: KeyID, studioHello: PairHello, producerHello: PairHello, exporter: [UInt8]) {
        var message = Array(Self.label.utf8) + studio.bytes + producer.bytes
        for payload in [studioHello.signedPayload, producerHello.signedPayload] {
            let count = UInt32(clamping: payload.count)
            message += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
            message += payload
        }
        self.message = message
        self.exporter = exporter
    }

    package func proof(
        of role: SessionRole, secret: PairingSecret, crypto: any PairingCrypto.Type
    ) throws(GantryError) -> [UInt8] {
        try mac(role == .producer ? "producer" : "studio", secret, crypto)
    }

    /// In constant time.
    package func verifies(
        _ proof: [UInt8], of role: SessionRole, secret: PairingSecret, crypto: any PairingCrypto.Type
    ) throws(GantryError) -> Bool {
        Self.isEqual(try self.proof(of: role, secret: secret, crypto: crypto), proof)
    }

    /// Six digits for two people to compare.
    package func comparisonNumber(
        secret: PairingSecret, crypto: any PairingCrypto.Type
    ) throws(GantryError) -> String {
        let value = TLVReader.bigEndian(try mac("comparison", secret, crypto).prefix(8)) % 1_000_000
        let digits = String(value)
        return String(repeating: "0", count: 6 - digits.utf8.count) + digits
    }

    /// The `r` of the producer's advert: base 32 of HKDF(no salt, secret, "rendezvous", 10 bytes). 16 characters.
    package static func rendezvous(
        secret: PairingSecret, crypto: any PairingCrypto.Type
    ) throws(GantryError) -> String {
        let bytes = try secret.withBytes { (secret) throws(GantryError) in
            try crypto.hkdfSHA256(
                salt: [], ikm: secret, info: Array("rendezvous".utf8), count: PairingLimits.rendezvousSize)
        }
        return Base32.encode(bytes)
    }

    /// Looks at every byte, whatever differs.
    package static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for (x, y) in zip(a, b) { difference |= x ^ y }
        return difference == 0
    }

    private func mac(
        _ role: String, _ secret: PairingSecret, _ crypto: any PairingCrypto.Type
    ) throws(GantryError) -> [UInt8] {
        var key = try secret.withBytes { (secret) throws(GantryError) in
            try crypto.hkdfSHA256(
                salt: exporter, ikm: secret, info: Array("\(Self.label) \(role)".utf8), count: PairingLimits.proofSize)
        }
        defer { key.withUnsafeMutableBytes { PairingSecret.zero($0) } }
        return try crypto.hmacSHA256(key: key, message: try crypto.sha256(message))
    }
}
