import COpenSSL
package import GantryCore
package import GantryPlatform

/// Who this installation is: one Ed25519 key for life, in `identity.key`, and a certificate made in memory around it.
///
/// Any thread.
package final class Identity: @unchecked Sendable {  // Immutable; OpenSSL counts references to both atomically.
    package static let fileName = "identity.key"

    package let keyID: KeyID
    /// SubjectPublicKeyInfo, DER.
    package let publicKeyInfo: [UInt8]
    /// EVP_PKEY and X509. Owned; an SSL context takes references of its own.
    let key: OpaquePointer
    let certificate: OpaquePointer

    /// The identity of the folder; it is made when there is none. Two processes that come at the same time get the
    /// same one.
    ///
    /// Throws `.identity` when the file is damaged, or not safe from other users. It is never replaced by itself:
    /// every paired device knows us by it.
    package static func loadOrCreate(in folder: StateFolder) throws(GantryError) -> Identity {
        if let identity = try load(folder) { return identity }
        return try folder.withExclusiveAccess { () throws(GantryError) -> Identity in
            if let identity = try load(folder) { return identity }
            let identity = try Identity()
            try identity.save(in: folder)
            return identity
        }
    }

    /// A new identity in memory only, for tests and for one-time use.
    package convenience init() throws(GantryError) {
        OpenSSLErrors.clear()
        guard let key = Self.generate() else {
            throw GantryError(.identity, "No key can be made.", cause: OpenSSLErrors.oldest())
        }
        try self.init(takingOwnership: key)
    }

    private init(takingOwnership key: OpaquePointer) throws(GantryError) {
        guard let certificate = Certificate.makeSelfSigned(key),
            let publicKeyInfo = Certificate.publicKeyInfo(of: certificate), PublicKeyInfo.isEd25519(publicKeyInfo),
            let keyID = KeyID(bytes: PairingCryptography.sha256(publicKeyInfo))
        else {
            EVP_PKEY_free(key)
            throw GantryError(.identity, "No certificate can be made.", cause: OpenSSLErrors.oldest())
        }
        self.key = key
        self.certificate = certificate
        self.publicKeyInfo = publicKeyInfo
        self.keyID = keyID
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    private static func generate() -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_id(COpenSSL_ED25519, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1 else { return nil }
        return key
    }

    private static func load(_ folder: StateFolder) throws(GantryError) -> Identity? {
        guard var contents = try SecureFile.read(fileName, in: folder, limit: 4096, code: .identity) else { return nil }
        defer { PairingCryptography.zero(&contents) }
        let path = folder.file(fileName)
        OpenSSLErrors.clear()
        guard let key = IdentityFile.key(contents) else {
            throw damaged(path, OpenSSLErrors.oldest())
        }
        let identity = try Identity(takingOwnership: key)
        guard IdentityFile.names(identity.keyID, contents) else {
            throw damaged(path, "the key is not the one that the first line names")
        }
        return identity
    }

    private static func damaged(_ path: String, _ cause: String?) -> GantryError {
        let quoted = SecureFile.quoted(path)
        return GantryError(
            .identity,
            "\(path) holds no usable key. Bring it back from a copy; or start anew, and pair all devices again: "
                + "mv \(quoted) \(quoted).damaged",
            cause: cause)
    }

    private func save(in folder: StateFolder) throws(GantryError) {
        guard var contents = IdentityFile.contents(key, keyID) else {
            throw GantryError(.identity, "The new key cannot be written down.", cause: OpenSSLErrors.oldest())
        }
        defer { PairingCryptography.zero(&contents) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: contents.count, alignment: 1)
        defer {
            OPENSSL_cleanse(buffer.baseAddress, buffer.count)
            buffer.deallocate()
        }
        buffer.copyBytes(from: contents)
        let isNew = try SecureFile.create(
            Self.fileName, in: folder, contents: UnsafeRawBufferPointer(buffer), code: .identity)
        guard isNew else {
            throw GantryError(
                .identity, "\(folder.file(Self.fileName)) appeared while a key was being made. Start again.")
        }
    }
}
