import COpenSSL
import GantryCore

/// The text of `identity.key`: a line that names the key, then PKCS#8 in PEM form, which OpenSSL reads as it is.
///
/// ```
/// Gantry identity <key id, 52 characters of base 32>
/// -----BEGIN PRIVATE KEY-----
/// ```
/// Any 32 bytes are an Ed25519 key, so without the first line a flipped bit would be another identity, not an error.
/// A file without that line (made by `openssl genpkey -algorithm ed25519`) is read as well.
enum IdentityFile {
    private static let label = Array("Gantry identity ".utf8)

    /// The key in the text, to be freed by the caller, or nil when there is no Ed25519 key in it.
    static func key(_ contents: [UInt8]) -> OpaquePointer? {
        contents.withUnsafeBytes { contents in
            // Reads from the memory as it stands: valid inside this closure only.
            guard let bio = BIO_new_mem_buf(contents.baseAddress, Int32(truncatingIfNeeded: contents.count)) else {
                return nil
            }
            defer { BIO_free(bio) }
            guard let key = PEM_read_bio_PrivateKey(bio, nil, refusePassphrase, nil) else { return nil }
            if EVP_PKEY_get_base_id(key) == COpenSSL_ED25519 { return key }
            EVP_PKEY_free(key)
            return nil
        }
    }

    /// False when the first line names another key.
    static func names(_ keyID: KeyID, _ contents: [UInt8]) -> Bool {
        guard contents.starts(with: label) else { return true }
        let text = contents.dropFirst(label.count).prefix { $0 != UInt8(ascii: "\n") }
        return text.elementsEqual(keyID.description.utf8)
    }

    static func contents(_ key: OpaquePointer, _ keyID: KeyID) -> [UInt8]? {
        guard let bio = BIO_new(BIO_s_secmem()) else { return nil }
        defer { BIO_free(bio) }
        guard PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1 else { return nil }
        var pem = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
        defer { PairingCryptography.zero(&pem) }
        guard BIO_read(bio, &pem, Int32(truncatingIfNeeded: pem.count)) == pem.count else { return nil }
        return label + Array(keyID.description.utf8) + [UInt8(ascii: "\n")] + pem
    }
}

/// OpenSSL would ask for the passphrase of an encrypted key on the terminal.
private func refusePassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: CInt, _ writing: CInt, _ context: UnsafeMutableRawPointer?
) -> CInt { -1 }
