import COpenSSL
package import GantryCore

/// TLS 1.3 with a certificate on both sides, over memory: ciphertext goes in and out by calls, no socket is touched.
///
/// **Thread.** Used by one thread at a time and not Sendable; `verifier` is called on that thread, inside
/// `advanceHandshake`.
///
/// **Order of calls.** After each `receive`: `advanceHandshake` until it returns true, then `readPlaintext` until it
/// returns `.needsInput`. After every call, one that threw included (an alert may lie there for the peer), send what
/// `drainCiphertext` gives. After an error the engine is dead; each later call throws the same error again.
///
/// **Who is let in.** The certificate is a container for a key: one certificate exactly, an Ed25519 or P-256 key, not
/// our own, and `verifier` says trusted. Names, dates and signatures in it are never looked at.
///
/// With TLS 1.3 the client is done before the server has looked at its certificate. A refusal by the server is
/// therefore thrown by the first `readPlaintext` of the client, and a client may call itself connected only when
/// the server's first message is there.
package final class TLSEngine {
    /// The producer is the server, the studio the client.
    package enum Role: Sendable { case client, server }

    /// Plaintext that goes into one record, RFC 8446 section 5.1.
    package static let maximumPlaintext = 16384
    /// Ciphertext that may wait in either direction; an owner that follows the order of calls stays far below.
    package static let maximumPending = 4 << 20

    package let role: Role
    /// The peer's key, once the handshake is complete (not before: until then the peer has not proved that it owns
    /// the key).
    package var peerKeyID: KeyID? { isComplete ? gate.keyID : nil }
    /// SubjectPublicKeyInfo (DER) of the peer, once the handshake is complete.
    package var peerPublicKeyInfo: [UInt8]? { isComplete ? gate.publicKeyInfo : nil }

    private let context: OpaquePointer
    private let ssl: OpaquePointer
    /// Owned by `ssl`.
    private let input: OpaquePointer
    private let output: OpaquePointer
    /// The C callbacks have a pointer to it, which lives as long as `context`.
    private let gate: PeerGate
    private var isComplete = false
    private var hasSeenInput = false
    private var failure: GantryError?

    /// `alpn`: the one protocol that both ends must name, 1 to 255 bytes. `verifier`: asked once for the key of the
    /// peer, which has not proved yet that it owns it.
    package init(
        role: Role, identity: Identity, alpn: String, verifier: @escaping @Sendable (KeyID) -> TrustDecision
    ) throws(GantryError) {
        OpenSSLErrors.clear()
        let gate = try PeerGate(role: role, ownKeyID: identity.keyID, alpn: alpn, verifier: verifier)
        guard let context = TLSContext.make(role: role, identity: identity, gate: gate) else {
            throw GantryError(.tls, "TLS cannot be set up.", cause: OpenSSLErrors.oldest())
        }
        guard let ssl = SSL_new(context), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_CTX_free(context)
            throw GantryError(.tls, "TLS cannot be set up: no memory.", cause: OpenSSLErrors.oldest())
        }
        SSL_set_bio(ssl, input, output)
        switch role {
        case .client: SSL_set_connect_state(ssl)
        case .server: SSL_set_accept_state(ssl)
        }
        self.role = role
        self.context = context
        self.ssl = ssl
        self.input = input
        self.output = output
        self.gate = gate
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    // MARK: Ciphertext

    /// Takes what came from the peer, in pieces of any size.
    package func receive(_ ciphertext: UnsafeRawBufferPointer) throws(GantryError) {
        if let failure { throw failure }
        guard let base = ciphertext.baseAddress, ciphertext.count > 0 else { return }
        if !hasSeenInput {
            hasSeenInput = true
            // Content types 20 to 22, RFC 8446 section 5.1. HTTP, SSH and the like are recognised here at once.
            guard (20...22).contains(ciphertext[0]) else { throw fail(TLSFailure.notAPeer(cause: nil)) }
        }
        guard let count = Int32(exactly: ciphertext.count),
            ciphertext.count <= Self.maximumPending &- Int(BIO_ctrl_pending(input))
        else { throw fail(GantryError(.invalidState, "More was received than was read.")) }
        guard BIO_write(input, base, count) == count else {
            throw fail(GantryError(.tls, "No memory is left for the connection."))
        }
    }

    /// Bytes that wait for `drainCiphertext`.
    package var pendingCiphertext: Int { Int(BIO_ctrl_pending(output)) }

    /// Moves ciphertext for the peer into `buffer`, and returns how much.
    package func drainCiphertext(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard pendingCiphertext > 0, buffer.count > 0 else { return 0 }
        return max(0, Int(BIO_read(output, buffer.baseAddress, Int32(clamping: buffer.count))))
    }

    // MARK: Handshake

    /// Goes on with the handshake as far as the input reaches. True once it is complete.
    ///
    /// Throws `.notPaired`, `.unpairedByPeer`, `.versionMismatch` (the peer has another protocol version),
    /// `.protocolError` (not a Gantry peer), `.wrongPeer` (our own key), `.tls`.
    package func advanceHandshake() throws(GantryError) -> Bool {
        if isComplete { return true }
        if let failure { throw failure }
        OpenSSLErrors.clear()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else {
            if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return false }
            throw fail(TLSFailure.error(role: role, refusal: gate.refusal, during: .handshake))
        }
        // Both were checked on the way; this is the second lock on the door.
        guard gate.isAdmitted, gate.hasAgreed(ssl) else {
            throw fail(GantryError(.tls, "The handshake ended without a key or a protocol."))
        }
        isComplete = true
        return true
    }

    /// `count` bytes (at most 1024) that only the two ends know, RFC 8446 section 7.5, with an empty context.
    package func exportKeyingMaterial(label: String, count: Int) throws(GantryError) -> [UInt8] {
        guard isComplete, failure == nil, (1...1024).contains(count), !label.isEmpty else {
            throw GantryError(.invalidState, "Keys can be exported only from a complete handshake.")
        }
        OpenSSLErrors.clear()
        var material = [UInt8](repeating: 0, count: count)
        guard SSL_export_keying_material(ssl, &material, count, label, label.utf8.count, nil, 0, 1) == 1 else {
            throw GantryError(.tls, "Keys cannot be exported.", cause: OpenSSLErrors.oldest())
        }
        return material
    }

    // MARK: Plaintext

    /// Decrypts into `buffer`, at most one record. Nothing is allocated in Swift.
    ///
    /// Throws as `advanceHandshake` does, and `.protocolError` for damaged ciphertext. The end of the link without
    /// `.closedByPeer` is a lost connection: the owner of the link knows about that.
    package func readPlaintext(into buffer: UnsafeMutableRawBufferPointer) throws(GantryError) -> PlaintextResult {
        if let failure { throw failure }
        guard isComplete, buffer.count > 0 else {
            throw GantryError(.invalidState, "Reading needs a complete handshake and a buffer.")
        }
        OpenSSLErrors.clear()
        let result = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        if result > 0 { return .bytes(Int(result)) }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .needsInput
        case SSL_ERROR_ZERO_RETURN: return .closedByPeer
        default: throw fail(TLSFailure.error(role: role, refusal: nil, during: .session))
        }
    }

    /// Encrypts `plaintext`, 1 to `maximumPlaintext` bytes, into one record. Nothing is allocated in Swift.
    package func writePlaintext(_ plaintext: UnsafeRawBufferPointer) throws(GantryError) {
        if let failure { throw failure }
        guard isComplete, (1...Self.maximumPlaintext).contains(plaintext.count) else {
            throw GantryError(.invalidState, "Writing needs a complete handshake and 1 to 16384 bytes.")
        }
        guard pendingCiphertext < Self.maximumPending else {
            throw GantryError(.invalidState, "More was written than was sent.")
        }
        OpenSSLErrors.clear()
        guard SSL_write(ssl, plaintext.baseAddress, Int32(clamping: plaintext.count)) == Int32(plaintext.count) else {
            throw fail(TLSFailure.error(role: role, refusal: nil, during: .session))
        }
    }

    /// Says goodbye: `close_notify` lies in the output afterwards. Reading stays possible. Does nothing before the
    /// handshake is complete and after an error.
    package func close() {
        guard isComplete, failure == nil else { return }
        OpenSSLErrors.clear()
        _ = SSL_shutdown(ssl)
        OpenSSLErrors.clear()
    }

    private func fail(_ error: GantryError) -> GantryError {
        failure = error
        return error
    }
}
