import Testing

@testable import CommandLineKit

/// What is offered, by the tables of the example.
@Suite struct CommandCompletionTests {
    private func complete(
        _ words: [String], _ current: String, root: Command = ExampleTool.root,
        list: @escaping CompletionListing = { _, _ in [] }
    ) -> CommandCompletion {
        CommandCompletion(root, before: words, current: current, list: list)
    }

    private func words(_ words: [String], _ current: String) -> [String] {
        complete(words, current).candidates.map(\.word)
    }

    @Test func commands() {
        #expect(words([], "") == ["run", "devices"])
        #expect(words([], "d") == ["devices"])
        #expect(words(["devices"], "") == ["list", "remove"])
        #expect(words(["--state-dir", "x", "devices"], "l") == ["list"])
        #expect(words([], "x") == [])
    }

    @Test func options() {
        #expect(words(["run"], "--s") == ["--size", "--state-dir"])
        #expect(words(["run"], "--pl") == ["--play"])
        #expect(words(["run", "--size", "1x1"], "--s") == ["--state-dir"], "once is enough")
        #expect(words(["run", "--to", "a:1"], "--to") == ["--to"], "this one may come again")
        #expect(words(["run"], "-").contains("--help"))
        #expect(complete(["run"], "--loo").candidates == [.init("--loop", "Start again at the end")])
        #expect(words(["run", "--"], "--s") == [], "all words are arguments now")
        #expect(words(["run", "--help"], "--s") == [])
        #expect(words(["devices", "list"], "").contains("--log"), "nothing else can follow")
    }

    @Test func values() {
        #expect(words(["--log"], "") == ["error", "warning", "info", "debug"])
        #expect(words(["run", "--log"], "w") == ["warning"])
        #expect(words(["run"], "--log=d") == ["--log=debug"])
        #expect(words(["run"], "--loop=d") == [], "takes no value")
        #expect(words(["run", "--port"], "") == [], "nothing can be listed")
        #expect(complete(["--state-dir"], "").paths == .folders)
        #expect(complete(["run"], "--state-dir=/t").paths == .folders)
        #expect(complete(["run", "--log", "loud"], "-").candidates.isEmpty, "the line is wrong already")
    }

    @Test func argumentsAndWhatTheToolLists() {
        let command = Command(
            "take", summary: "takes",
            options: [Option("with", value: "NAME", help: "Whom.", completion: [.pairedDevices])],
            positionals: [
                Positional("WHAT", help: "What.", completion: [.words(["test", "-"]), .cameras, .files]),
                Positional("FILE", help: "Where.", isRepeatable: true),
            ])
        let root = Command(
            "tool", summary: "does", options: CommonOptions.all,
            subcommands: [command, Command("hidden", summary: "", isHidden: true)])
        let list: CompletionListing = { source, arguments in
            switch source {
            case .cameras: [.init("/dev/video0", "USB\tCamera")]
            case .pairedDevices: [.init("Stage left", arguments.string("state-dir") ?? ""), .init("evil\u{1B}[2J")]
            default: []
            }
        }
        #expect(complete([], "", root: root).candidates.map(\.word) == ["take"])
        let what = complete(["take"], "", root: root, list: list)
        #expect(what.candidates == [.init("test"), .init("-"), .init("/dev/video0", "USB?Camera")])
        #expect(what.paths == .files)
        #expect(what.text == "files\ntest\n-\n/dev/video0\tUSB?Camera\n")
        #expect(complete(["take"], "-", root: root, list: list).candidates == [.init("-")])
        #expect(complete(["take", "test", "a", "b"], "", root: root, list: list).paths == .files)
        let whom = complete(["--state-dir", "/s", "take", "--with"], "St", root: root, list: list)
        #expect(whom.candidates == [.init("Stage left", "/s")])
        #expect(
            !complete(["take", "--with"], "", root: root, list: list).candidates.contains { $0.word.hasPrefix("evil") })
    }

    /// Nothing that is typed ends the process, however it is cut.
    @Test func anyWordsAreHarmless() {
        let pieces = [
            "", "-", "--", "---", "--=", "-=", "--log", "--log=", "-s", "-sx", "run", "devices", "=", "\u{0}", "ü",
        ]
        for first in pieces {
            for second in pieces {
                for current in pieces { _ = complete([first, second], current).text }
            }
        }
    }
}
