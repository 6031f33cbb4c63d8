import Testing

@testable import CommandLineKit

@Suite struct KeyParserTests {
    private func keys(_ text: String) -> [KeyParser.Key] {
        var parser = KeyParser()
        return text.utf8.compactMap { parser.feed($0) }
    }

    @Test func arrowsAndEnd() {
        #expect(keys("\u{1b}[D\u{1b}[C\u{1b}OD\u{1b}OC") == [.left, .right, .left, .right])
        #expect(keys("\u{1b}[F\u{1b}OF\u{1b}[4~\u{1b}[8~") == [.end, .end, .end, .end])
        #expect(keys(" s\u{1b}[Ds") == [.space, .letter("s"), .left, .letter("s")])
    }

    @Test func whatIsNotKnownIsPassedOver() {
        // Up, Home, Delete, Shift-left, F5, a mouse, control characters, Escape alone before a letter, UTF-8.
        #expect(keys("\u{1b}[A\u{1b}[H\u{1b}[3~\u{1b}[1;2D\u{1b}[15~\u{1b}[<0;10;10M\u{1}\u{d}\n\u{7f}é").isEmpty)
        #expect(keys("\u{1b}s\u{1b}\u{1b}[D") == [.letter("s"), .left])
    }

    @Test func numbersWithoutEnd() {
        #expect(keys("\u{1b}[" + String(repeating: "9", count: 10_000) + "D ") == [.space])
    }
}
