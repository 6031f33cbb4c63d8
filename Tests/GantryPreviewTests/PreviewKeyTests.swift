import Testing

@testable import GantryPreview

@Suite struct PreviewKeyTests {
    /// As `SDL_Keysym` has it: letters are their ASCII codes, 0x4000_0000 is added to the scan codes of keys without a sign
    /// (SDL_keycode.h), and these are the bits of SDL_Keymod.
    private static func key(_ symbol: Int32, _ modifiers: UInt16 = 0, isRepeated: Bool = false) -> PreviewKey? {
        PreviewKey(symbol: symbol, modifiers: modifiers, isRepeated: isRepeated)
    }

    private static let left: Int32 = 0x4000_0050
    private static let right: Int32 = 0x4000_004F
    private static let shift: UInt16 = 1
    private static let control: UInt16 = 0x40
    private static let alt: UInt16 = 0x100

    @Test func keysMeanWhatTheTableSays() {
        let letters: [(Character, PreviewKey)] = [
            ("f", .fullScreen), ("o", .rotate), ("i", .statistics), ("s", .command(.snapshot)),
            ("r", .command(.record)),
            ("l", .command(.live)), ("m", .command(.mute)), (" ", .command(.pause)), ("h", .help), ("?", .help),
            ("q", .command(.close)), ("\u{1B}", .escape),
        ]
        for (letter, key) in letters { #expect(Self.key(Int32(letter.asciiValue ?? 0)) == key, "\(letter)") }
        #expect(Self.key(Self.left) == .command(.back) && Self.key(Self.right) == .command(.forward))
        #expect(Self.key(0x2F, Self.shift) == .help)
        #expect(Self.key(0x2F) == nil && Self.key(0x78) == nil && Self.key(-1) == nil)
    }

    @Test func theWindowManagersKeysAreNotOurs() {
        #expect(Self.key(0x71, Self.control) == nil && Self.key(0x66, Self.alt) == nil)
        // Num Lock and Caps Lock mean nothing.
        #expect(Self.key(0x66, 0x1000) == .fullScreen && Self.key(0x66, 0x2000) == .fullScreen)
    }

    @Test func onlyArrowsRepeat() {
        #expect(Self.key(0x66, isRepeated: true) == nil && Self.key(0x20, isRepeated: true) == nil)
        #expect(Self.key(Self.left, isRepeated: true) == .command(.back))
    }
}
