import CommandLineKit
import GantryTestSupport
import Testing

@Suite struct InPlaceLinesTests {
    private static func model(_ rows: Int = 10) -> TerminalModel {
        var model = TerminalModel(columns: 20, rows: rows)
        model.feed(Array("$ pair\r\n".utf8))
        return model
    }

    private static func lines(_ texts: String...) -> [ScreenLine] { texts.map { ScreenLine($0) } }

    @Test func linesAreReplacedAndTakenAway() {
        var model = Self.model()
        var block = InPlaceLines()
        let size = TerminalSize(columns: 20, rows: 10)
        model.feed(Array(block.draw(Self.lines("one", "two", "three"), size: size).utf8))
        #expect(model.text.hasPrefix("$ pair\none\ntwo\nthree\n"))
        model.feed(Array(block.draw(Self.lines("1", "2"), size: size).utf8))
        #expect(model.text.hasPrefix("$ pair\n1\n2\n\n"))
        model.feed(Array(block.clear(size: size).utf8))
        #expect(block.clear(size: size).isEmpty)
        model.feed(Array("done\r\n".utf8))
        #expect(model.text.hasPrefix("$ pair\ndone\n\n"))
        #expect(model.unknown.isEmpty)
    }

    @Test func nothingScrollsAway() {
        var model = Self.model(4)
        var block = InPlaceLines()
        let size = TerminalSize(columns: 20, rows: 4)
        for _ in 0..<5 {
            model.feed(
                Array(
                    block.draw(Self.lines("a", "b", "c", "d", "e", String(repeating: "x", count: 20)), size: size).utf8)
            )
        }
        #expect(model.text == "a\nb\nc\n")
        // Only the line before, once.
        #expect(model.scrollback == ["$ pair"])
    }

    /// The terminal has wrapped each line of 15 cells into two of 10.
    @Test func aNarrowerTerminalIsCleared() {
        var block = InPlaceLines()
        _ = block.draw(Self.lines("fifteen cells..", "1"), size: TerminalSize(columns: 20, rows: 10))
        var narrow = TerminalModel(columns: 10, rows: 10)
        narrow.feed(Array("$ pair\r\nfifteen ce\r\nlls..\r\n1\r\n".utf8))
        narrow.feed(Array(block.clear(size: TerminalSize(columns: 10, rows: 10)).utf8))
        #expect(narrow.text.hasPrefix("$ pair\n\n\n"))
    }
}
