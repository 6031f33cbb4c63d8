import COpenSSL
import GantryCore

/// Decides on the certificate and the protocol that the peer shows. Belongs to one `TLSEngine` and its thread; the C
/// callbacks of the engine's context come here.
final class PeerGate {
    /// Why we turned the peer away.
    enum Refusal: Hashable {
        case stranger, removed, ownKey, badCertificate, otherProtocol
    }

    private(set) var keyID: KeyID?
    private(set) var publicKeyInfo: [UInt8]?
    private(set) var isAdmitted = false
    private(set) var refusal: Refusal?
    private let role: TLSEngine.Role
    private let ownKeyID: KeyID
    private let verifier: (KeyID) -> TrustDecision
    /// The list of one protocol as it is on the wire (RFC 7301 section 3.1): length, name. Its address must stay.
    let protocols: UnsafeBufferPointer<UInt8>

    init(
        role: TLSEngine.Role, ownKeyID: KeyID, alpn: String, verifier: @escaping (KeyID) -> TrustDecision
    ) throws(GantryError) {
        let name = Array(alpn.utf8)
        guard let length = UInt8(exactly: name.count), length > 0 else {
            throw GantryError(.invalidArgument, "A protocol name has 1 to 255 bytes.")
        }
        let list = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: name.count + 1)
        _ = list.initialize(from: [length] + name)
        protocols = UnsafeBufferPointer(list)
        self.role = role
        self.ownKeyID = ownKeyID
        self.verifier = verifier
    }

    deinit { protocols.deallocate() }

    /// Whether the handshake chose our protocol.
    func hasAgreed(_ ssl: OpaquePointer) -> Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual(protocols.dropFirst())
    }

    /// Server, first thing: a client that names no protocol at all gets the same answer as one with another.
    func admitHello(_ ssl: OpaquePointer?, _ alert: UnsafeMutablePointer<CInt>?) -> CInt {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        if SSL_client_hello_get0_ext(ssl, COpenSSL_EXTENSION_ALPN, &bytes, &count) == 1 {
            return SSL_CLIENT_HELLO_SUCCESS
        }
        refusal = .otherProtocol
        alert?.pointee = SSL_AD_NO_APPLICATION_PROTOCOL
        return SSL_CLIENT_HELLO_ERROR
    }

    /// Server: takes our protocol when the client's list has it. `offered`: lengths and names, checked by OpenSSL.
    func selectProtocol(_ offered: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        var rest = offered[...]
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) else { break }
            if rest.prefix(Int(length)).elementsEqual(protocols.dropFirst()) {
                return UnsafeBufferPointer(rebasing: protocols.dropFirst())
            }
            rest = rest.dropFirst(Int(length))
        }
        refusal = .otherProtocol
        return nil
    }

    /// The certificate of the peer. Answers 1 or 0 as OpenSSL wants it; the reason that is set becomes the alert.
    func verify(_ store: OpaquePointer) -> CInt {
        // Chosen before the certificates came; a server that ignores the extension ends here, before it sees our key.
        if let ssl = connection(of: store), !hasAgreed(ssl) { return refuse(.otherProtocol, store) }
        guard COpenSSL_certificate_count(store) == 1, let certificate = X509_STORE_CTX_get0_cert(store),
            let info = Certificate.publicKeyInfo(of: certificate),
            let keyID = KeyID(bytes: PairingCryptography.sha256(info))
        else { return refuse(.badCertificate, store) }
        if PairingCryptography.equal(keyID.bytes, ownKeyID.bytes) { return refuse(.ownKey, store) }
        switch verifier(keyID) {
        case .trusted: break
        case .unknown: return refuse(.stranger, store)
        case .revoked: return refuse(.removed, store)
        }
        self.keyID = keyID
        publicKeyInfo = info
        isAdmitted = true
        X509_STORE_CTX_set_error(store, X509_V_OK)
        return 1
    }

    /// The alert that OpenSSL makes of each reason: `ssl_x509err2alert`, ssl/statem/statem_lib.c.
    private func refuse(_ refusal: Refusal, _ store: OpaquePointer) -> CInt {
        self.refusal = refusal
        let reason =
            switch refusal {
            case .stranger, .ownKey: X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT  // unknown_ca
            case .removed: X509_V_ERR_CERT_REVOKED  // certificate_revoked
            case .badCertificate: X509_V_ERR_CERT_REJECTED  // bad_certificate
            case .otherProtocol: X509_V_ERR_APPLICATION_VERIFICATION  // handshake_failure
            }
        X509_STORE_CTX_set_error(store, reason)
        return 0
    }

    private func connection(of store: OpaquePointer) -> OpaquePointer? {
        X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) }
    }
}
