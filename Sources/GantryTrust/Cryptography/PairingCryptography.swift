import COpenSSL
import GantryPlatform

/// The primitives of the pairing proofs and of key ids. No state; any thread.
package enum PairingCryptography {
    /// SHA-256, FIPS 180-4. 32 bytes.
    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard SHA256(message, message.count, &digest) != nil else { preconditionFailure("OpenSSL has no SHA-256") }
        return digest
    }

    /// HMAC-SHA-256, RFC 2104. 32 bytes.
    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        // A key longer than a block stands for its hash, so the length always fits the C int.
        let key = key.count > 64 ? sha256(key) : key
        var code = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let done = HMAC(EVP_sha256(), key, Int32(truncatingIfNeeded: key.count), message, message.count, &code, &count)
        guard done != nil, count == 32 else { preconditionFailure("OpenSSL has no HMAC-SHA-256") }
        return code
    }

    /// HKDF-SHA-256, RFC 5869: extract, then expand to `count` bytes, at most 255 × 32 (more is cut to that).
    package static func hkdfSHA256(salt: [UInt8], ikm: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
        let count = min(max(count, 0), 255 * 32)
        var pseudorandomKey = hmacSHA256(key: salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt, message: ikm)
        defer { zero(&pseudorandomKey) }
        var output: [UInt8] = []
        output.reserveCapacity(count + 32)
        var block: [UInt8] = []
        var counter: UInt8 = 1
        while output.count < count {
            block = hmacSHA256(key: pseudorandomKey, message: block + info + [counter])
            output += block
            counter &+= 1
        }
        zero(&block)
        output.removeLast(output.count - count)
        return output
    }

    /// Whether both are the same, in a time that depends on the lengths only.
    package static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
    }

    /// Bytes from the kernel's random source.
    package static func randomBytes(_ count: Int) -> [UInt8] { KernelRandom.bytes(count) }

    /// Overwrites a secret in place, in a way that the compiler does not leave out. Works on the one copy that the
    /// caller holds: an array that is shared is copied first, so do not share secrets.
    package static func zero(_ secret: inout [UInt8]) {
        secret.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}
