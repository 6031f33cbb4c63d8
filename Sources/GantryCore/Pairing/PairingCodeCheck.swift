/// The check of a pairing code, its option `C`: base 32 of the CRC-16/CCITT-FALSE (polynomial 1021, start FFFF) of the code's
/// text in upper case without this option. Four characters. Shows what was cut off or mistyped; no protection.
///
/// The writer puts it before the other options, where it stays when the end is lost.
struct PairingCodeCheck {
    /// Bytes of the option with the "/" before it.
    static let size = 6

    private var crc: UInt16 = 0xFFFF

    /// The next part of the text, in any case.
    mutating func add(_ text: some Sequence<UInt8>) {
        for byte in text {
            let isSmall = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            crc ^= UInt16(isSmall ? byte - 0x20 : byte) << 8
            for _ in 0..<8 { crc = crc << 1 ^ (crc >> 15 == 1 ? 0x1021 : 0) }
        }
    }

    /// As it stands in the code, behind the letter.
    var value: String { Base32.encode([UInt8(crc >> 8), UInt8(crc & 0xFF)]) }
}
