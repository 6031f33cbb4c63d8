import COpenSSL

/// The settings of a channel, as an `SSL_CTX`.
enum TLSContext {
    /// Largest certificate message that is read. Ours is about 300 bytes.
    static let maximumCertificateList = 4096

    /// A context whose callbacks go to `gate`, which must outlive it. To be freed by the caller; nil when OpenSSL
    /// fails.
    static func make(role: TLSEngine.Role, identity: Identity, gate: PeerGate) -> OpaquePointer? {
        guard let context = SSL_CTX_new(TLS_method()) else { return nil }
        let target = Unmanaged.passUnretained(gate).toOpaque()
        let protocols = gate.protocols
        COpenSSL_forget_sessions(context)
        COpenSSL_set_max_cert_list(context, maximumCertificateList)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        // Replaces the whole check of the chain. The per-error callback of SSL_CTX_set_verify would be asked only
        // about errors that OpenSSL finds (CVE-2026-32253).
        SSL_CTX_set_cert_verify_callback(context, verifyCertificate, target)
        if role == .server {
            SSL_CTX_set_client_hello_cb(context, admitHello, target)
            SSL_CTX_set_alpn_select_cb(context, selectProtocol, target)
        }
        let done =
            COpenSSL_only_tls_1_3(context) == 1
            && SSL_CTX_set_num_tickets(context, 0) == 1
            && SSL_CTX_set_max_early_data(context, 0) == 1
            && COpenSSL_set_sigalgs(context, "ed25519:ecdsa_secp256r1_sha256") == 1
            && SSL_CTX_use_certificate(context, identity.certificate) == 1
            && SSL_CTX_use_PrivateKey(context, identity.key) == 1
            // Unlike its neighbours this one answers 0 for success.
            && SSL_CTX_set_alpn_protos(context, protocols.baseAddress, UInt32(clamping: protocols.count)) == 0
        if done { return context }
        SSL_CTX_free(context)
        return nil
    }
}

private func gate(_ target: UnsafeMutableRawPointer?) -> PeerGate? {
    target.map { Unmanaged<PeerGate>.fromOpaque($0).takeUnretainedValue() }
}

private func verifyCertificate(_ store: OpaquePointer?, _ target: UnsafeMutableRawPointer?) -> CInt {
    guard let store, let gate = gate(target) else { return 0 }
    return gate.verify(store)
}

private func admitHello(
    _ ssl: OpaquePointer?, _ alert: UnsafeMutablePointer<CInt>?, _ target: UnsafeMutableRawPointer?
) -> CInt {
    gate(target)?.admitHello(ssl, alert) ?? SSL_CLIENT_HELLO_ERROR
}

private func selectProtocol(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenCount: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32,
    _ target: UnsafeMutableRawPointer?
) -> CInt {
    let offered = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
    guard let name = gate(target)?.selectProtocol(offered) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    chosen?.pointee = name.baseAddress
    chosenCount?.pointee = UInt8(clamping: name.count)
    return SSL_TLSEXT_ERR_OK
}
