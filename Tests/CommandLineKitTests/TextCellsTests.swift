import CommandLineKit
import Testing

@Suite struct TextCellsTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한", 2), ("ﾊ", 1), ("Ａ", 2), ("🎥", 2), ("👩‍👩‍👧‍👦", 2),
        ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("👍🏽", 2), ("\u{200B}", 0), ("\u{1B}", 0), ("…", 1), ("→", 1), ("█", 1), ("〇", 2),
    ])
    func widths(text: String, cells: Int) {
        #expect(TextCells.width(text) == cells)
    }

    @Test func truncates() {
        #expect(TextCells.truncated("abcdef", to: 6) == "abcdef")
        #expect(TextCells.truncated("abcdef", to: 5) == "abcd…")
        #expect(TextCells.truncated("日本語", to: 5) == "日本…")
        #expect(TextCells.truncated("日本語", to: 4) == "日…", "half a character does not fit")
        #expect(TextCells.truncated("🎥🎥", to: 1) == "…")
        #expect(TextCells.truncated("abc", to: 0) == "")
        #expect(TextCells.truncated("abc", to: -1) == "")
    }

    @Test func wraps() {
        #expect(TextCells.wrapped("one two three", to: 7) == ["one two", "three"])
        #expect(TextCells.wrapped("日本 日本", to: 8) == ["日本", "日本"])
        #expect(TextCells.wrapped("unbreakable", to: 3) == ["unbreakable"])
        #expect(TextCells.wrapped("", to: 3) == [])
    }

    @Test func printableLeavesNothingThatMovesTheCursor() {
        #expect(TextCells.printable("a\u{1B}[2J\nb\u{9B}c\u{202E}d\u{0}\u{E000}\u{2028}") == "a?[2J?b?c?d???")
        #expect(TextCells.printable("Küche 🎥 日本 👩‍👧") == "Küche 🎥 日本 👩‍👧")
        #expect(TextCells.printable("abcdef", limit: 4) == "abc…")
    }

    @Test func pads() {
        #expect(TextCells.padded("日", to: 4) == "日  ")
        #expect(TextCells.padded("7", to: 3, right: true) == "  7")
        #expect(TextCells.padded("long", to: 2) == "long")
    }

    @Test func table() {
        var table = Table(["NAME", "SEEN", "KIND"], alignments: [.left, .right])
        #expect(table.isEmpty)
        table.add(["Küche 🎥", "3 d", "producer", "beyond"])
        table.add(["日本\n", "12 min"])
        #expect(
            table.text == """
                NAME        SEEN  KIND
                Küche 🎥     3 d  producer
                日本?     12 min

                """)
    }
}
