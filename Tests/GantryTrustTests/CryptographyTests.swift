import GantryTrust
import Testing

@Suite struct CryptographyTests {
    /// FIPS 180-4 examples.
    @Test func sha256OfKnownMessages() {
        #expect(
            PairingCryptography.sha256(Array("abc".utf8))
                == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(
            PairingCryptography.sha256([])
                == hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    /// RFC 4231, test cases 1, 2, 3 and 6 (a key longer than a block).
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func hmacOfRFC4231(key: [UInt8], message: [UInt8], code: String) {
        #expect(PairingCryptography.hmacSHA256(key: key, message: message) == hex(code))
    }

    /// RFC 5869, appendix A.1: salt and info.
    @Test func hkdfOfRFC5869Case1() {
        let output = PairingCryptography.hkdfSHA256(
            salt: hex("000102030405060708090a0b0c"), ikm: [UInt8](repeating: 0x0b, count: 22),
            info: hex("f0f1f2f3f4f5f6f7f8f9"), count: 42)
        #expect(
            output == hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
    }

    /// RFC 5869, appendix A.2: longer than two blocks of everything.
    @Test func hkdfOfRFC5869Case2() {
        let output = PairingCryptography.hkdfSHA256(
            salt: Array(0x60...0xaf), ikm: Array(0x00...0x4f), info: Array(0xb0...0xff), count: 82)
        #expect(
            output
                == hex(
                    "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
                        + "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
                        + "cc30c58179ec3e87c14c01d5c1f3434f1d87"))
    }

    /// RFC 5869, appendix A.3: no salt, no info.
    @Test func hkdfOfRFC5869Case3() {
        let output = PairingCryptography.hkdfSHA256(
            salt: [], ikm: [UInt8](repeating: 0x0b, count: 22), info: [], count: 42)
        #expect(
            output == hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
        #expect(PairingCryptography.hkdfSHA256(salt: [], ikm: [], info: [], count: 1 << 40).count == 255 * 32)
        #expect(PairingCryptography.hkdfSHA256(salt: [], ikm: [], info: [], count: -1).isEmpty)
    }

    @Test func equalityLooksAtEverything() {
        #expect(PairingCryptography.equal([1, 2, 3], [1, 2, 3]))
        #expect(!PairingCryptography.equal([1, 2, 3], [1, 2, 4]))
        #expect(!PairingCryptography.equal([1, 2, 3], [1, 2]))
        #expect(PairingCryptography.equal([], []))
    }

    @Test func randomBytesDiffer() {
        let first = PairingCryptography.randomBytes(1000)
        #expect(first.count == 1000)
        #expect(first != PairingCryptography.randomBytes(1000))
        #expect(Set(first).count > 200)
    }

    @Test func zeroingLeavesNothing() {
        var secret = PairingCryptography.randomBytes(32)
        PairingCryptography.zero(&secret)
        #expect(secret == [UInt8](repeating: 0, count: 32))
    }
}

func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}
