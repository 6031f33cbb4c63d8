import CommandLineKit
import Testing

@Suite struct FiguresTests {
    @Test(arguments: [
        (0.0, 0, "0"), (1.005, 1, "1.0"), (-0.04, 1, "0.0"), (-1.25, 2, "-1.25"), (29.97002997, 2, "29.97"),
        (0.05, 2, "0.05"), (999.999, 2, "1000.00"), (.nan, 1, "-"), (.infinity, 1, "-"), (1e300, 3, "-"),
    ])
    func decimals(_ value: Double, _ places: Int, _ text: String) {
        #expect(Figures.decimal(value, places: places) == text)
    }

    @Test func microsecondsAsMilliseconds() {
        #expect(Figures.milliseconds(7349) == "7.3")
        #expect(Figures.milliseconds(-1500) == "-1.5")
    }

    @Test(arguments: [
        ("camera", "camera"), ("10.0.0.7:7787", "10.0.0.7:7787"), ("", "''"), ("two words", "'two words'"),
        ("it's", "'it'\\''s'"), ("$(reboot)", "'$(reboot)'"), ("Küche", "'Küche'"),
    ])
    func shellWords(_ text: String, _ quoted: String) {
        #expect(ShellWord.quoted(text) == quoted)
    }
}

@Suite struct CountTests {
    @Test func oneIsSingular() {
        #expect(Figures.count(1, "frame") == "1 frame")
        #expect(Figures.count(0, "frame") == "0 frames")
        #expect(Figures.count(2, "frame") == "2 frames")
    }
}
