import CommandLineKit
import Testing

@Suite struct HelpTextTests {
    private func help(_ words: [String], width: Int) throws -> String {
        guard case .show(let text) = try ExampleTool.parser.parse(words + ["--help"], width: width) else { return "" }
        return text
    }

    @Test func ofACommandWithOptions() throws {
        #expect(
            try help(["run"], width: 72) == """
                gantry-example run: plays a source to paired studios

                Usage: gantry-example run SOURCE [SOUND] [options]

                Arguments:
                  SOURCE  A file, a URL, or - for standard input.
                  SOUND   Another file for the sound.

                Options:
                  -l, --loop       Start again at the end.
                  -j, --json       Events as JSON lines.
                  --offset N       A number.
                  --duration TIME  Stop after this time.
                  --port PORT      Listen on this port.
                  --to HOST:PORT   Dial this studio. May be given more than once.
                  --play[=DEVICE]  Play the sound.
                  --state-dir DIR  Keep keys and paired devices in DIR.
                  --log LEVEL      How much is logged. One of: error, warning, info,
                                   debug.

                Picture:
                  -s, --size WxH      Scale the picture to this size.
                  --fps RATE          Frames per second.
                  -b, --bitrate BITS  Most bits per second for the picture; the encoder
                                      goes below this when the network cannot take it.

                General:
                  -h, --help  Show this help.
                  --version   Show the version.

                Examples:
                  gantry-example run clip.mp4 --loop
                      Plays clip.mp4 again and again.

                Ends at the end of the source, or after Ctrl-C.

                """)
    }

    @Test func ofAToolWithCommands() throws {
        #expect(
            try help([], width: 80) == """
                gantry-example: shows what a table looks like

                Usage: gantry-example COMMAND [options]

                Commands:
                  run      plays a source to paired studios
                  devices  paired devices

                Options:
                  --state-dir DIR  Keep keys and paired devices in DIR.
                  --log LEVEL      How much is logged. One of: error, warning, info, debug.

                General:
                  -h, --help  Show this help.
                  --version   Show the version.

                """)
    }

    @Test(arguments: [40, 60, 80, 100]) func fitsTheWidth(width: Int) throws {
        let lines = try help(["run"], width: width).split(separator: "\n")
        #expect(lines.count > 20)
        for line in lines { #expect(TextCells.width(line) <= width, "\(line)") }
    }

    @Test func isUnharmedByAbsurdWidths() throws {
        #expect(try help(["run"], width: -5) == help(["run"], width: 40))
        #expect(try help(["run"], width: .max) == help(["run"], width: 120))
    }
}
