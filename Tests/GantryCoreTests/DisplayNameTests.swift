import GantryCore
import Testing

@Suite struct DisplayNameTests {
    @Test(arguments: [
        ("Stage left", "Stage left"),
        ("  Régie 1 ", "Régie 1"),
        ("", "unnamed"),
        ("\u{200B}\u{202E}\u{2066}\u{FEFF}", "unnamed"),
        ("\u{1B}[2J\u{1B}]0;x\u{07}Cam", "[2J]0;xCam"),
        ("a\nb\r\nc\td\u{0}e\u{7F}\u{85}\u{9B}f", "abcdef"),
        ("\u{202E}gnp.exe\u{202C}", "gnp.exe"),
        ("a\u{2028}b\u{2029}c", "abc"),
        ("a\u{A0}b\u{3000}c", "a b c"),
        ("a\u{E000}b\u{10FFFF}c\u{0378}d", "abcd"),
        ("x\u{FFFD}y", "xy"),
        ("\u{3164}\u{115F}", "unnamed"),
        ("カメラ📷", "カメラ📷"),
    ])
    func cleaned(raw: String, expected: String) {
        #expect(DisplayName(raw).text == expected)
        #expect(DisplayName(DisplayName(raw).text) == DisplayName(raw))
    }

    @Test func invalidUTF8() {
        #expect(DisplayName(utf8: [0x41, 0xFF, 0xC3, 0x28, 0xED, 0xA0, 0x80, 0x42]).text == "A(B")
        #expect(DisplayName(utf8: [0xC0, 0x80]).text == "unnamed")
    }

    @Test(arguments: [
        ("Camera", true), (String(repeating: "a", count: 32), true), (String(repeating: "a", count: 33), false),
        (String(repeating: "😀", count: 16), true), (String(repeating: "😀", count: 17), false),
        (String(repeating: "\u{202E}", count: 100) + "Camera", true), ("", false), (" \u{200B}\n", false),
        ("e" + String(repeating: "\u{301}", count: 2000), false),
    ])
    func namesThatWouldBeCutDoNotFit(name: String, fits: Bool) {
        #expect(DisplayName.fits(name) == fits)
        #expect(ValueForm.displayName.accepts(name) == fits)
    }

    @Test func limits() {
        #expect(DisplayName(String(repeating: "a", count: 33)).text.count == 32)
        #expect(DisplayName(String(repeating: "ä", count: 40)).text == String(repeating: "ä", count: 32))
        #expect(DisplayName(String(repeating: "日", count: 40)).text == String(repeating: "日", count: 21))
        #expect(DisplayName(String(repeating: "😀", count: 40)).text.utf8.count == 64)
        // One base letter with endless accents is one grapheme of more than 64 bytes: nothing of it stays.
        #expect(DisplayName("e" + String(repeating: "\u{301}", count: 2000)).text == "unnamed")
        #expect(DisplayName("ab" + String(repeating: "\u{301}", count: 2000)).text == "a")
        #expect(DisplayName(String(repeating: " ", count: 4000) + "x").text == "x")
    }
}
