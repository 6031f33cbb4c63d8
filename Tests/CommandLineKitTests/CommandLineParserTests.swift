import CommandLineKit
import GantryCore
import Testing

@Suite struct CommandLineParserTests {
    private func parse(_ words: String...) throws -> ParsedArguments {
        switch try ExampleTool.parser.parse(words) {
        case .run(let arguments): return arguments
        case .show(let text): throw Shown(text: text)
        }
    }

    private struct Shown: Error { let text: String }

    /// The message of the usage error that `words` give.
    private func fault(_ words: String...) throws -> String {
        let error = try #require(throws: GantryError.self) { try ExampleTool.parser.parse(words) }
        #expect(error.code == .invalidArgument)
        #expect(ExitStatus(error.code) == .usage)
        #expect(error.message.hasSuffix("--help"), "says where to read more")
        return error.message
    }

    @Test func takesValuesInEveryForm() throws {
        for words in [
            ["run", "--size", "4x3", "clip"], ["run", "--size=4x3", "clip"], ["run", "clip", "-s", "4x3"],
            ["run", "-s4x3", "clip"], ["run", "-s=4x3", "clip"], ["run", "-ls", "4x3", "clip"],
        ] {
            guard case .run(let arguments) = try ExampleTool.parser.parse(words) else {
                Issue.record("\(words) did not run")
                continue
            }
            #expect(arguments.string("size") == "4x3", "\(words)")
            #expect(arguments.positionals == ["clip"], "\(words)")
        }
    }

    @Test(arguments: [
        (["run", "--play", "x"], ""), (["run", "x", "--play"], ""), (["run", "--play=", "x"], ""),
        (["run", "--play", "--loop", "x"], ""), (["run", "--play", "hw:1,0", "x"], "hw:1,0"),
        (["run", "--play=front", "x"], "front"), (["run", "--play", "default", "x"], "default"),
        (["run", "--play", "--", "x"], ""),
    ]) func anOptionalValueIsTakenWhenItIsOne(_ words: [String], _ value: String) throws {
        guard case .run(let arguments) = try ExampleTool.parser.parse(words) else {
            Issue.record("\(words) did not run")
            return
        }
        #expect(arguments.has("play"))
        #expect(arguments.string("play") == value)
        #expect(arguments.positionals == ["x"])
    }

    @Test func keepsWhatStandsBehindTheFirstEqualsSign() throws {
        #expect(try parse("run", "x", "--to=a=b").string("to") == "a=b")
        #expect(try parse("run", "x", "--to=").string("to") == "")
    }

    @Test func countsFlagsAndGroupsShortOnes() throws {
        let arguments = try parse("run", "-lj", "x", "--loop")
        #expect(arguments.count("loop") == 2)
        #expect(arguments.has("json"))
        #expect(!arguments.has("size"))
    }

    @Test func dashAloneIsPositionalAndAValue() throws {
        #expect(try parse("run", "-").positionals == ["-"])
        let arguments = try parse("run", "-", "--to", "-")
        #expect(arguments.string("to") == "-")
        #expect(arguments.positional(0) == "-")
        #expect(arguments.positional(1) == nil)
    }

    @Test func twoDashesEndTheOptions() throws {
        #expect(try parse("run", "--", "--loop", "--").positionals == ["--loop", "--"])
    }

    @Test func negativeNumbersAreValues() throws {
        #expect(try parse("run", "x", "--offset", "-5").int("offset", in: -9...9) == -5)
    }

    @Test func optionsOfTheToolStandBeforeAndBehindTheCommand() throws {
        #expect(try parse("--state-dir", "d", "run", "x").string("state-dir") == "d")
        let arguments = try parse("devices", "remove", "a", "b", "--state-dir=d")
        #expect(arguments.string("state-dir") == "d")
        #expect(arguments.positionals == ["a", "b"])
        #expect(arguments.commandNames == ["devices", "remove"])
    }

    @Test func repeatableOptionsKeepTheirOrder() throws {
        #expect(try parse("run", "x", "--to", "a", "--to", "b").strings("to") == ["a", "b"])
    }

    @Test func unknownOptionNamesTheNearest() throws {
        #expect(try fault("run", "x", "--bitrat", "6M").contains("Did you mean --bitrate?"))
        #expect(try fault("run", "x", "--szie=1x1").contains("Did you mean --size?"))
        let message = try fault("run", "x", "--entirely-else")
        #expect(message.contains("\"--entirely-else\""))
        #expect(!message.contains("Did you mean"))
        #expect(try fault("run", "x", "-q").contains("\"-q\""))
    }

    @Test func unknownCommandNamesTheNearest() throws {
        #expect(try fault("rnu").contains("Did you mean run?"))
        #expect(try fault("devices", "lits").contains("Did you mean list?"))
        #expect(try fault("devices").contains("One of: list, remove."))
        #expect(try fault().contains("One of: run, devices."))
    }

    @Test func optionsOfOneCommandAreNotTakenByAnother() throws {
        #expect(try fault("devices", "list", "--loop").contains("no option"))
    }

    @Test func missingValue() throws {
        #expect(try fault("run", "x", "--size").contains("--size needs a value: --size WxH"))
        #expect(try fault("run", "x", "--size", "--loop").contains("needs a value"))
        #expect(try fault("run", "x", "-s").contains("-s needs a value"))
    }

    @Test func faultsOfUse() throws {
        #expect(try fault("run", "x", "--size=1x1", "--size=2x2").contains("given twice"))
        #expect(try fault("run", "x", "--loop=yes").contains("takes no value"))
        #expect(try fault("run", "x", "y", "z").contains("\"z\" is one argument too many"))
        #expect(try fault("run").contains("SOURCE is missing"))
        let message = try fault("run", "x", "--log=warnin")
        #expect(message.contains("error, warning, info, debug"))
        #expect(message.contains("Did you mean warning?"))
    }

    @Test func neverEchoesControlCharacters() throws {
        let message = try fault("run", "x", "--\u{1B}[2Jevil\u{202E}\n")
        #expect(!message.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" })
        #expect(try fault(String(repeating: "long", count: 10_000)).utf8.count < 300)
    }

    @Test(arguments: [
        ["--help"], ["-h"], ["run", "--help"], ["devices", "list", "-h"], ["run", "--help", "--nonsense"],
    ])
    func helpEverywhere(words: [String]) throws {
        guard case .show(let text) = try ExampleTool.parser.parse(words) else {
            Issue.record("no help")
            return
        }
        let name = (["gantry-example"] + words.filter { !$0.hasPrefix("-") }).joined(separator: " ")
        #expect(text.hasPrefix(name + ": "))
    }

    @Test func version() throws {
        for words in [["--version"], ["run", "--version"]] {
            guard case .show(let text) = try ExampleTool.parser.parse(words) else {
                Issue.record("no version")
                return
            }
            #expect(text == "gantry-example 1.2.3\n")
        }
    }

    /// Words of dashes, equals signs and odd characters end in a value or a usage error, never in a trap.
    @Test func survivesRandomWords() throws {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "-", "--", "=", "run", "devices", "list", "size", "s", "l", "é", "\u{301}", "\u{0}", "-1", ".", " ",
        ]
        for _ in 0..<2000 {
            let words = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    pieces.randomElement(using: &generator) ?? ""
                }.joined()
            }
            do {
                _ = try ExampleTool.parser.parse(words)
            } catch {
                #expect(error.code == .invalidArgument, "\(words)")
            }
        }
    }
}
