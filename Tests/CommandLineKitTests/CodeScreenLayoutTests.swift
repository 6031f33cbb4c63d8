import CommandLineKit
import GantryCore
import GantryTestSupport
import Testing

struct CodeScreenLayoutTests {
    /// A code of 37 modules with quiet zones of 4 and 2, drawn as "#".
    private static func layout(_ messages: [String] = []) -> CodeScreenLayout {
        CodeScreenLayout(
            drawings: [drawing(45, 23), drawing(41, 21)], status: "New code in 87 s · window closes in 4:12",
            instructions: ["First advice", "Second advice", "Third advice"], messages: messages)
    }

    private static func drawing(_ columns: Int, _ rows: Int) -> CodeScreenLayout.Drawing {
        .init(columns: columns, lines: [String](repeating: String(repeating: "#", count: columns), count: rows))
    }

    private static func lines(_ columns: Int, _ rows: Int, _ messages: [String] = []) -> [String] {
        layout(messages).lines(in: TerminalSize(columns: columns, rows: rows)).map(\.text)
    }

    private static func codeColumns(_ lines: [String]) -> Int { lines.first?.prefix { $0 == "#" }.count ?? 0 }

    @Test func theTextIsBelowWhereThereIsRoom() {
        let lines = Self.lines(80, 40, ["It happened"])
        #expect(Self.codeColumns(lines) == 45)
        #expect(
            Array(lines.dropFirst(23)) == [
                "New code in 87 s · window closes in 4:12", "First advice", "Second advice", "Third advice", "",
                "It happened",
            ])
    }

    @Test func theTextIsBesideInAWideAndLowTerminal() {
        let lines = Self.lines(80, 24)
        #expect(lines.count == 23)
        #expect(Self.codeColumns(lines) == 45)
        #expect(lines[0].hasSuffix("#  New code in 87 s · window closes"))
        #expect(lines[2].hasSuffix("#  First advice"))
    }

    @Test func theQuietZoneIsNarrowedWhereTheCodeWouldNotFitOtherwise() {
        #expect(Self.codeColumns(Self.lines(44, 40)) == 41)
        #expect(Self.codeColumns(Self.lines(60, 24)) == 41)
        #expect(Self.codeColumns(Self.lines(45, 25)) == 45)
        #expect(Self.codeColumns(Self.lines(71, 21)) == 41)
    }

    @Test(arguments: [(40, 40), (80, 20), (45, 22), (70, 21), (12, 9), (1, 1)])
    func aSmallTerminalIsToldHowLargeItMustBe(_ columns: Int, _ rows: Int) throws {
        let size = TerminalSize(columns: columns, rows: rows)
        let lines = Self.layout(["A message"]).lines(in: size)
        #expect(!lines.contains { $0.text.contains("#") })
        #expect(lines.count <= max(rows, lines.filter { !$0.text.isEmpty }.count))
        let least = try #require(Self.layout().leastSize(from: size))
        if columns >= 40 {
            #expect(lines.contains { $0.text.contains("Enlarge the terminal to at least") })
            #expect(lines.contains { $0.text.contains("\(least.columns) × \(least.rows)") })
        }
        // The advice is right, and one less is not enough.
        #expect(Self.codeColumns(Self.lines(least.columns, least.rows)) == 41)
        #expect(Self.codeColumns(Self.lines(least.columns, least.rows - 1)) == 0)
    }

    @Test func theAdviceIsInTheMiddle() {
        let lines = Self.lines(60, 11)
        let advice = "Enlarge the terminal to at least 41 × 23"
        #expect(lines == ["", "", "", "", "", String(repeating: " ", count: 10) + advice])
    }

    @Test func nothingIsEverTooLargeForTheTerminal() {
        let long = String(repeating: "x", count: 300)
        let messages = ["wide 中文字 text", long, "\u{1B}[2J\u{202E}", "word " + long, "", "last"]
        for columns in (1...46) + [71, 72, 75, 80, 100] {
            for rows in [1, 2, 3, 20, 21, 22, 23, 24, 25, 26, 28, 40] {
                let size = TerminalSize(columns: columns, rows: rows)
                let lines = Self.layout(messages).lines(in: size)
                if lines.contains(where: { $0.text.hasPrefix("#") }) { #expect(lines.count <= rows) }
                #expect(lines.allSatisfy { $0.columns <= columns && TextCells.width($0.text) == $0.columns })
                #expect(!lines.contains { $0.text.contains("\u{1B}") || $0.text.contains("\u{202E}") })
            }
        }
    }

    @Test func theNewestMessageIsSeenInTheLeastOfRooms() {
        #expect(
            Array(Self.lines(45, 25, ["old", "new"]).dropFirst(23)) == [
                "New code in 87 s · window closes in 4:12", "new",
            ])
        let many = (1...9).map { "Message \($0)" }
        let lines = Self.lines(80, 31, many)
        #expect(lines.count == 31)
        #expect(lines.last == "Message 9")
        #expect(lines[24] == "First advice")
    }

    @Test func theCountdownCountsDown() {
        let text = CodeCountdown.text(code: .milliseconds(86_001), window: .seconds(252))
        #expect(text == "New code in 87 s · window closes in 4:12")
        #expect(
            CodeCountdown.text(code: .seconds(-3), window: .seconds(9)) == "New code in 0 s · window closes in 0:09")
        // No code comes after the window.
        #expect(CodeCountdown.text(code: .seconds(40), window: .seconds(40)) == "Window closes in 0:40")
        #expect(CodeCountdown.clock(.milliseconds(59_999)) == "1:00")
        #expect(CodeCountdown.clock(.seconds(-1)) == "0:00")
    }

    // MARK: Rendering

    @Test func rendersWhatIsAskedFor() {
        var renderer = ScreenRenderer()
        var model = TerminalModel(columns: 10, rows: 3)
        model.feed(Array("before\r\nmore".utf8))
        let size = TerminalSize(columns: 10, rows: 3)
        func show(_ lines: [String]) -> Int {
            let bytes = Array(renderer.draw(lines.map { ScreenLine($0) }, size: size).utf8)
            model.feed(bytes)
            return bytes.count
        }
        model.feed(Array(ScreenRenderer.enter.utf8))
        #expect(show(["0123456789", "long line", "three"]) > 0)
        #expect(model.text == "0123456789\nlong line\nthree")
        #expect(!model.isCursorShown)
        #expect(show(["0123456789", "long line", "three"]) == 0, "nothing to do, nothing to flicker")
        let change = show(["0123456789", "short", "three"])
        #expect(change < 20)
        #expect(model.text == "0123456789\nshort\nthree")
        _ = show(["one"])
        #expect(model.text == "one\n\n")
        // Too wide, too many: left out, since a terminal would wrap or scroll.
        _ = show(["0123456789A", "b", "c", "d"])
        #expect(model.text == "b\nc\n")
        renderer.forget()
        #expect(show(["again"]) > 0)
        model.feed(Array(ScreenRenderer.leave.utf8))
        #expect(model.text == "before\nmore\n")
        #expect(model.isCursorShown && !model.isAlternate)
        #expect(model.unknown.isEmpty)
    }
}
