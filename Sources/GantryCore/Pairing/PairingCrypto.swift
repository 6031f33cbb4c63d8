/// The three primitives that pairing needs; `GantryTrust` has them from OpenSSL.
///
/// A throw means that the library failed; the pairing then fails closed.
package protocol PairingCrypto: SendableMetatype {
    static func sha256(_ message: [UInt8]) throws(GantryError) -> [UInt8]
    /// RFC 2104 with SHA-256.
    static func hmacSHA256(key: [UInt8], message: [UInt8]) throws(GantryError) -> [UInt8]
    /// RFC 5869, extract and expand.
    static func hkdfSHA256(salt: [UInt8], ikm: [UInt8], info: [UInt8], count: Int) throws(GantryError) -> [UInt8]
}
