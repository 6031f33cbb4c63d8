import CommandLineKit
import GantryCore
import GantryTestSupport
import Testing

/// The configuration file against the tables of `ExampleTool`.
@Suite struct ConfigurationFileTests {
    private static func file(_ json: String) throws(GantryError) -> ConfigurationFile {
        try ConfigurationFile(Array(json.utf8), path: "example.json", root: ExampleTool.root)
    }

    private static func arguments(_ words: [String], _ json: String) throws -> ParsedArguments {
        guard case .run(let typed) = try ExampleTool.parser.parse(words) else { throw CancellationError() }
        return typed.adding(try file(json))
    }

    @Test func everyKindOfOption() throws {
        let arguments = try Self.arguments(
            ["run", "clip.mp4"],
            """
            {
              "loop": true, "size": "640x480", "offset": -3, "fps": 29.97,
              "to": ["a:1", "b:2"], "play": true, "log": "info", "duration": null, "port": 80
            }
            """)
        #expect(arguments.has("loop"))
        #expect(try arguments.size("size") == PixelSize("640x480"))
        #expect(try arguments.int("offset", in: -9...9) == -3)
        #expect(try arguments.rate("fps") == FrameRate(30000, 1001))
        #expect(arguments.strings("to") == ["a:1", "b:2"])
        #expect(arguments.string("play") == "")
        #expect(arguments.string("log") == "info")
        #expect(!arguments.has("duration"))
        #expect(try arguments.port("port") == 80)
        #expect(!arguments.isTyped("loop"))
        #expect(arguments.configured["size"]?.line == 2)
    }

    @Test func theCommandLineCountsBefore() throws {
        let arguments = try Self.arguments(
            ["run", "clip.mp4", "--size", "320x180", "--to", "c:3"],
            #"{"size": "640x480", "to": "a:1", "fps": 10, "run": {"fps": 20}}"#)
        #expect(arguments.string("size") == "320x180")
        #expect(arguments.strings("to") == ["c:3"])
        #expect(arguments.isTyped("size"))
        // What stands under the command counts before what stands at the top.
        #expect(arguments.string("fps") == "20")
    }

    @Test func otherCommandsAndFalseSetNothing() throws {
        let list = try Self.arguments(["devices", "list"], #"{"loop": true, "run": {"fps": 20}, "log": "debug"}"#)
        #expect(list.string("log") == "debug")
        #expect(list.configured.count == 1)
        let run = try Self.arguments(["run", "x"], #"{"loop": true, "run": {"loop": false}}"#)
        #expect(!run.has("loop"))
    }

    @Test(
        arguments: [
            ("{\n\"sise\": \"1x1\"}", ["example.json:2:", "\"sise\"", "Did you mean size?"]),
            (
                "{\"run\": {\n\n\"loopp\": true}}",
                ["example.json:3:", "\"loopp\" of gantry-example run", "Did you mean loop?"]
            ),
            ("{\n\"rum\": {}}", ["example.json:2:", "no command \"rum\"", "Did you mean run?"]),
            ("{\"log\": \"loud\"}", ["example.json:1:", "log cannot be \"loud\"", "error, warning, info, debug"]),
            ("{\"loop\": 1}", ["loop cannot be \"1\"", "true or false"]),
            ("{\"size\": true}", ["size cannot be \"true\"", "WxH"]),
            ("{\"size\": [\"1x1\"]}", ["size cannot be"]),
            ("{\"to\": [1, {}]}", ["to cannot be \"{}\"", "array of such"]),
            ("{\"help\": true}", ["command line only"]), ("[]", ["example.json:1:", "JSON object"]),
            ("{\n\"loop\": tru}", ["example.json", "line 2, column 9"]),
            ("{\"loop\": true,\n\"loop\": true}", ["the same name again", "line 2"]),
            ("", ["a value is missing"]), ("\u{FEFF}{}", ["line 1, column 1"]),
        ] as [(String, [String])])
    func faultsSayWhere(_ json: String, _ words: [String]) {
        let error = #expect(throws: GantryError.self) { try Self.file(json) }
        #expect(error?.code == .invalidArgument)
        for word in words { #expect(error?.message.contains(word) == true, "\(word) in: \(error?.message ?? "")") }
    }

    @Test func errorsOfCommandsSayWhereAnOptionComesFrom() throws {
        let arguments = try Self.arguments(["run", "x"], "{\n\"duration\": \"soon\", \"loop\": true}")
        let error = #expect(throws: GantryError.self) { try arguments.duration("duration") }
        let located = arguments.locating(try #require(error))
        #expect(located.message.hasSuffix("--duration is set in example.json, line 2."))
        let other = GantryError(.cannotConnect, "--loop")
        #expect(arguments.locating(other).message == "--loop")
    }

    /// Nothing that is in a file ends the process, and what is damaged is refused or still means something.
    @Test func damagedFiles() throws {
        let whole = Array(#"{"run": {"fps": "30", "to": ["a", "é"]}, "log": "info", "loop": true, "offset": -1}"#.utf8)
        var random = SeededRandom(seed: 7)
        for length in 0..<whole.count {
            #expect(throws: GantryError.self) {
                try ConfigurationFile(Array(whole.prefix(length)), path: "f", root: ExampleTool.root)
            }
        }
        for _ in 0..<2000 {
            var bytes = whole
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            do throws(GantryError) {
                _ = try ConfigurationFile(bytes, path: "f", root: ExampleTool.root)
            } catch {
                #expect(error.code == .invalidArgument)
            }
        }
    }
}
