import COpenSSL

/// The X.509 certificate around a key. Only a container: TLS wants one, nobody reads more of it than the key.
enum Certificate {
    /// A new self-signed certificate, to be freed by the caller, or nil when OpenSSL fails.
    static func makeSelfSigned(_ key: OpaquePointer) -> OpaquePointer? {
        guard let certificate = X509_new() else { return nil }
        let name = X509_get_subject_name(certificate)
        // Dates that every clock lies between, 1970 and 2040 included; the last is RFC 5280's "no expiry".
        let done =
            X509_set_version(certificate, 2) == 1  // 2 means version 3.
            && ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "19700101000000Z") == 1
            && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1
            && X509_NAME_add_entry_by_txt(name, "CN", COpenSSL_MBSTRING_ASC, "gantry", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1
            && X509_set_pubkey(certificate, key) == 1
            && X509_sign(certificate, key, nil) > 0  // No digest: Ed25519 signs the message itself.
        if done { return certificate }
        X509_free(certificate)
        return nil
    }

    /// The SubjectPublicKeyInfo of a certificate as DER, or nil when it is none that we accept.
    static func publicKeyInfo(of certificate: OpaquePointer) -> [UInt8]? {
        guard let key = X509_get_X509_PUBKEY(certificate) else { return nil }
        let count = Int(i2d_X509_PUBKEY(key, nil))
        guard count > 0, count <= PublicKeyInfo.maximumSize else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let written = bytes.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            return Int(i2d_X509_PUBKEY(key, &position))
        }
        return written == count && PublicKeyInfo.isAccepted(bytes) ? bytes : nil
    }
}
