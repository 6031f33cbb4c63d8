import GantryCore

/// SHA-256 (FIPS 180-4), HMAC (RFC 2104) and HKDF (RFC 5869), written plainly: for tests only, checked against
/// `pairing/vectors/primitives.json`.
package enum ReferenceCrypto: PairingCrypto {
    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        var state = initial
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) * 8
        for shift in stride(from: 56, through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        for start in stride(from: 0, to: padded.count, by: 64) { compress(&state, padded[start..<start + 64]) }
        return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? sha256(key) : key
        block += Array(repeating: 0, count: 64 - block.count)
        return sha256(block.map { $0 ^ 0x5c } + sha256(block.map { $0 ^ 0x36 } + message))
    }

    package static func hkdfSHA256(salt: [UInt8], ikm: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
        let key = hmacSHA256(key: salt.isEmpty ? Array(repeating: 0, count: 32) : salt, message: ikm)
        var result: [UInt8] = []
        var block: [UInt8] = []
        var number: UInt8 = 1
        while result.count < count {
            block = hmacSHA256(key: key, message: block + info + [number])
            result += block
            number += 1
        }
        return Array(result.prefix(count))
    }

    private static func compress(_ state: inout [UInt32], _ block: ArraySlice<UInt8>) {
        var words: [UInt32] = []
        for start in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            words.append(block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<64 {
            let a = words[index - 15]
            let b = words[index - 2]
            let s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)
            let s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10)
            words.append(words[index - 16] &+ s0 &+ words[index - 7] &+ s1)
        }
        var v = state
        for index in 0..<64 {
            let s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)
            let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
            let t1 = v[7] &+ s1 &+ choice &+ constants[index] &+ words[index]
            let s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)
            let t2 = s0 &+ ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]))
            v = [t1 &+ t2, v[0], v[1], v[2], v[3] &+ t1, v[4], v[5], v[6]]
        }
        for index in 0..<8 { state[index] &+= v[index] }
    }

    private static func rotate(_ x: UInt32, _ n: UInt32) -> UInt32 { x >> n | x << (32 - n) }

    /// Fractional parts of the square roots of the first 8 primes, and of the cube roots of the first 64.
    private static let initial: [UInt32] = primes(8).map { UInt32(truncatingIfNeeded: root($0, 2)) }
    private static let constants: [UInt32] = primes(64).map { UInt32(truncatingIfNeeded: root($0, 3)) }

    private static func primes(_ count: Int) -> [UInt64] {
        var found: [UInt64] = []
        var candidate: UInt64 = 2
        while found.count < count {
            if found.allSatisfy({ candidate % $0 != 0 }) { found.append(candidate) }
            candidate += 1
        }
        return found
    }

    /// floor(n^(1/degree) · 2³²) by bisection, in exact integers: n < 312, so nothing exceeds 128 bits.
    private static func root(_ n: UInt64, _ degree: Int) -> UInt64 {
        var low: UInt64 = 0
        var high: UInt64 = 1 << 37
        while high - low > 1 {
            let middle = (low + high) / 2
            let value = UInt128(middle)
            let isAtMost = degree == 2 ? value * value <= UInt128(n) << 64 : value * value * value <= UInt128(n) << 96
            if isAtMost { low = middle } else { high = middle }
        }
        return low
    }
}
