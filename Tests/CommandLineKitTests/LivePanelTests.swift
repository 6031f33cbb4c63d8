import CommandLineKit
import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct LivePanelTests {
    private static func panel(_ name: String = "Camera", warning: String? = nil) -> LivePanel {
        var curve = MinuteCurve()
        for second in 0..<30 { curve.add(second % 10 == 9 ? 18 : 9.5) }
        return LivePanel(
            title: name, state: ["receiving", "LAN, TCP", "192.168.1.20:7787", "0:42"],
            rows: [
                .init("picture", .text(["1280x720", "30.0 fps", "5.82 Mbit/s", "full quality", "of 6 Mbit/s"])),
                .init("latency", .curve("p50 9.1 · p95 9.5 ms", curve.values)), .init("sound", .levels([-18, -6])),
                .init("dropped", .text(["producer 0", "network 0", "decoder 0", "sound 0"])),
            ] + (warning.map { [.init("warning", .text([$0]), isWarning: true)] } ?? []))
    }

    private static func text(_ columns: Int) -> String {
        panel().lines(columns: columns, style: TextStyle(isEnabled: false)).map(\.text).joined(separator: "\n")
    }

    @Test func atTheUsualWidth() {
        #expect(
            Self.text(80) == """
                ── Camera · receiving · LAN, TCP · 192.168.1.20:7787 · 0:42 ───────────────────
                picture  1280x720 · 30.0 fps · 5.82 Mbit/s · full quality · of 6 Mbit/s
                latency  p50 9.1 · p95 9.5 ms                      ▄▄▄▄▄▄█▄▄▄▄▄▄█▄▄▄▄▄█ 0-20 ms
                sound    L ██████████████████░░░░░░░ -18 dB  R ███████████████████████░░  -6 dB
                dropped  producer 0 · network 0 · decoder 0 · sound 0
                """)
    }

    @Test func onANarrowTerminal() {
        #expect(
            Self.text(40) == """
                ── Camera · receiving · LAN, TCP ──────
                picture  1280x720 · 30.0 fps
                         5.82 Mbit/s · full quality
                         of 6 Mbit/s
                latency  p50 9.1 · p95 9.5 ms
                                    ▄▄▄█▄▄▄█▄▄█ 0-20 ms
                sound    L ████░ -18 dB  R █████  -6 dB
                dropped  producer 0 · network 0
                         decoder 0 · sound 0
                """)
    }

    @Test(arguments: [
        "Camera", "日本語の名前日本語の名前日本語の名前", "🎥🎥🎥 👩‍👩‍👧‍👦 🇩🇪🇩🇪", "\u{1B}[2J\u{1B}]0;x\u{07}\r\nname", "\u{202E}live", "",
        String(repeating: "long ", count: 100),
    ]) func everyWidthIsKept(_ name: String) {
        for columns in 1...200 {
            for isColoured in [false, true] {
                let lines = Self.panel(name, warning: name).lines(
                    columns: columns, style: TextStyle(isEnabled: isColoured))
                #expect(lines.count >= 5)
                for line in lines {
                    // A cell stays free, where there is more than one.
                    #expect(line.columns < max(2, columns))
                    let visible = line.text.replacing(/\u{1B}\[[0-9]+m/, with: "")
                    #expect(TextCells.width(visible) == line.columns, "\(columns): \(visible)")
                    #expect(!visible.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" })
                    #expect(isColoured || visible == line.text)
                }
            }
        }
    }

    @Test func aCurveShowsTheLargest() {
        #expect(Sparkline.text([nil, 0, 5, 10], cells: 4, top: 10) == " ▁▅█")
        #expect(Sparkline.text([0, 10, 0, 0, nil, nil], cells: 3, top: 10) == "█▁ ")
        #expect(Sparkline.text([1000, -5, .nan], cells: 3, top: 10) == "█▁ ")
        #expect(Sparkline.text([1], cells: 3, top: 10).count == 3)
        #expect(Sparkline.text([], cells: 3, top: 10) == "" && Sparkline.text([1], cells: 0, top: 10) == "")
        #expect(
            [3, 10, 11, 21, 99, 101, 1e9].map { Sparkline.top(of: [nil, $0]) } == [10, 10, 20, 50, 100, 200, 10000])
    }

    @Test func levelsThatAreNoNumbers() {
        for levels in [[-Double.infinity, .nan], [.infinity, 1e300], [-1e300, 0], [], [-3]] {
            let panel = LivePanel(title: "x", state: [], rows: [.init("sound", .levels(levels))])
            let lines = panel.lines(columns: 60, style: TextStyle(isEnabled: false))
            #expect(lines.allSatisfy { TextCells.width($0.text) == $0.columns && $0.columns < 60 }, "\(lines)")
        }
    }

    // MARK: On a terminal

    private static func model(_ terminal: PseudoTerminal, until text: String) -> TerminalModel {
        var model = TerminalModel(columns: 80, rows: 24)
        model.feed(Array(terminal.read(until: text).utf8))
        return model
    }

    @Test func linesScrollAboveAndNothingStays() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let status = StatusLine(descriptor: terminal.user.rawValue, terminalType: "xterm")
        #expect(status.isLive)
        status.write("before\n")
        status.show(live: Self.panel())
        status.show(live: Self.panel("too soon"))
        status.write("warning: in between\n")
        status.aside { status.write("asked\n") }
        status.write("end\n")
        let model = Self.model(terminal, until: "end\r\n")
        #expect(model.text.hasPrefix("before\nwarning: in between\nasked\nend\n\n"), "\(model.text)")
        #expect(model.unknown.isEmpty && model.isCursorShown && model.enterCount == 0)
    }

    @Test func theViewStandsBelowWhatWasWritten() throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let status = StatusLine(descriptor: terminal.user.rawValue, terminalType: "xterm")
        status.show(live: Self.panel())
        status.write("one\n")
        status.write("two\n")
        var model = TerminalModel(columns: 80, rows: 24)
        for _ in 0..<3 { model.feed(Array(terminal.read(until: "decoder 0 · sound 0").utf8)) }
        #expect(model.text.hasPrefix("one\ntwo\n── Camera"), "\(model.text)")
        #expect(model.text.ranges(of: "dropped").count == 1)
    }

    @Test func noViewWhereItCannotBeRedrawn() throws {
        let terminal = try PseudoTerminal()
        let pipe = try TestPipe()
        #expect(!StatusLine(isPlain: true, descriptor: terminal.user.rawValue, terminalType: "xterm").isLive)
        #expect(!StatusLine(descriptor: terminal.user.rawValue, terminalType: "dumb").isLive)
        #expect(!StatusLine(descriptor: terminal.user.rawValue, terminalType: nil).isLive)
        #expect(!StatusLine(isEnabled: false, descriptor: terminal.user.rawValue, terminalType: "xterm").isLive)
        let status = StatusLine(descriptor: pipe.writeEnd)
        status.show(live: Self.panel())
        #expect(!status.isLive && pipe.readAvailable().isEmpty)
        let plain = StatusLine(isPlain: true, descriptor: terminal.user.rawValue, terminalType: "xterm")
        plain.show("30 fps")
        #expect(terminal.read(until: "\n") == "30 fps\r\n")
    }
}
