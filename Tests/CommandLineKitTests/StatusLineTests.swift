import CommandLineKit
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

@Suite struct StatusLineTests {
    private func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }

    @Test func redrawsInPlace() {
        let line = Drawing(mode: .inPlace, isColoured: false)
        #expect(line.clear() == "", "nothing drawn, nothing to take away")
        #expect(line.show("30 fps", columns: 20, now: at(0)) == "\r30 fps\u{1B}[K")
        #expect(line.show("31 fps", columns: 20, now: at(50)) == nil, "too early")
        #expect(line.show("32 fps", columns: 20, now: at(100)) == "\r32 fps\u{1B}[K")
        #expect(line.clear() == "\r\u{1B}[K")
        #expect(line.clear() == "")
        #expect(line.show("33 fps", columns: 20, now: at(110)) == "\r33 fps\u{1B}[K", "drawn again at once")
    }

    @Test(arguments: ["日本語日本語日本語", "🎥🎥🎥🎥🎥🎥", "abcdefghijklmnop", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "e\u{301}e\u{301}ab🇩🇪🇩🇪🇩🇪🇩🇪"])
    func neverReachesTheLastColumn(text: String) throws {
        for columns in 1...12 {
            let line = Drawing(mode: .inPlace, isColoured: false)
            let output = try #require(line.show(text, columns: columns, now: at(0)))
            let visible = output.dropFirst().dropLast(3)
            #expect(TextCells.width(visible) < columns)
            #expect(TextCells.width(visible) >= min(TextCells.width(text), columns - 2), "no more is cut than needed")
        }
    }

    @Test func staysOneLine() {
        let line = Drawing(mode: .inPlace, isColoured: false)
        let output = line.show("a\nb\u{1B}[Hc", columns: 40, now: at(0))
        #expect(output == "\ra?b?[Hc\u{1B}[K")
    }

    @Test func warnsInColourOnlyWhenAllowed() {
        let plain = Drawing(mode: .inPlace, isColoured: false)
        let colourful = Drawing(mode: .inPlace, isColoured: true)
        #expect(plain.show("slow", isWarning: true, columns: 9, now: at(0)) == "\rslow\u{1B}[K")
        #expect(
            colourful.show("slow", isWarning: true, columns: 9, now: at(0)) == "\r\u{1B}[33mslow\u{1B}[0m\u{1B}[K"
        )
    }

    @Test func plainLinesEveryFiveSeconds() {
        let line = Drawing(mode: .plain, isColoured: false)
        #expect(line.show(String(repeating: "x", count: 200), columns: 10, now: at(0))?.count == 201)
        #expect(line.show("b", columns: 10, now: at(4999)) == nil)
        #expect(line.show("c", columns: 10, now: at(5000)) == "c\n")
        #expect(line.clear() == "")
    }

    @Test func writesNoEscapesIntoAPipe() throws {
        let pipe = try TestPipe()
        let status = StatusLine(descriptor: pipe.writeEnd)
        status.show("30 fps")
        status.write("error: gone\n")
        status.clear()
        let silent = StatusLine(isEnabled: false, descriptor: pipe.writeEnd)
        silent.show("never")
        #expect(pipe.readAvailable() == "30 fps\nerror: gone\n")
    }

    @Test func clearsBeforeOtherOutputOnATerminal() throws {
        let terminal = try PseudoTerminal(columns: 10, rows: 5)
        #expect(TerminalSize(of: terminal.user.rawValue) == TerminalSize(columns: 10, rows: 5))
        let status = StatusLine(descriptor: terminal.user.rawValue, terminalType: "xterm")
        status.show("0123456789abc")
        status.write("info: x\n")
        let shown = terminal.read(until: "x\r\n")
        #expect(shown == "\r01234567…\u{1B}[K\r\u{1B}[Kinfo: x\r\n")
    }

    @Test(arguments: ["dumb", nil]) func plainLinesOnASimpleTerminal(terminalType: String?) throws {
        let terminal = try PseudoTerminal(columns: 10, rows: 5)
        let status = StatusLine(descriptor: terminal.user.rawValue, terminalType: terminalType)
        status.show("30 fps", isWarning: true)
        #expect(terminal.read(until: "\n") == "30 fps\r\n")
    }

    @Test func coloursOnlyWhereTheyAreWelcome() throws {
        let terminal = try PseudoTerminal()
        let pipe = try TestPipe()
        func isColoured(_ descriptor: CInt, noColor: String? = nil, type: String? = "xterm") -> Bool {
            TextStyle(for: descriptor, noColor: noColor, terminalType: type).isEnabled
        }
        #expect(isColoured(terminal.user.rawValue))
        #expect(isColoured(terminal.user.rawValue, noColor: ""))
        #expect(!isColoured(terminal.user.rawValue, noColor: "1"))
        #expect(!isColoured(terminal.user.rawValue, type: "dumb"))
        #expect(!isColoured(terminal.user.rawValue, type: nil))
        #expect(!isColoured(pipe.writeEnd))
        #expect(TextStyle(isEnabled: false).error("x") == "x")
        #expect(TextStyle(isEnabled: true).error("x") == "\u{1B}[31mx\u{1B}[0m")
    }

    @Test func sizeOfNoTerminal() throws {
        let pipe = try TestPipe()
        #expect(TerminalSize(of: pipe.writeEnd) == nil)
        #expect(TerminalSize.current.columns > 0)
    }
}

/// A renderer that `#expect` can call.
private final class Drawing {
    private var renderer: StatusLineRenderer

    init(mode: StatusLineRenderer.Mode, isColoured: Bool) {
        renderer = StatusLineRenderer(mode: mode, style: TextStyle(isEnabled: isColoured))
    }

    func show(_ text: String, isWarning: Bool = false, columns: Int, now: MediaTimestamp) -> String? {
        renderer.show(text, isWarning: isWarning, columns: columns, now: now)
    }

    func clear() -> String { renderer.clear() }
}
