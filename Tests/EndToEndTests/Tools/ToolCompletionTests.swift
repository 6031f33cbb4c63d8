import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

extension EndToEnd {
    /// The scripts of `completion` in the shells that they are for, with paired devices and files.
    @Suite struct ToolCompletionTests {
        /// A paired producer whose name has a blank, and a folder with a file.
        private final class Place: Sendable {
            let stage: ToolStage

            init() async throws {
                stage = try ToolStage()
                try await stage.pair()
                let renamed = try await stage.studio(["devices", "rename", "Camera", "Stage left"]).end()
                try #require(renamed.status == 0, "\(renamed.errorText)")
                try FileManager.default.createDirectory(
                    atPath: stage.file("films/old"), withIntermediateDirectories: true)
                try Data().write(to: URL(fileURLWithPath: stage.file("films/one clip.mp4")))
                for shell in ["bash", "zsh", "fish"] {
                    let script = try await ToolRun.run(["gantry-studio", "completion", shell])
                    try #require(script.status == 0, "\(script.errorText)")
                    try script.output.write(to: URL(fileURLWithPath: stage.file(shell)))
                }
            }

            /// What a shell prints that runs `script`, with our tools on its path.
            func shell(_ command: [String], _ script: String) async throws -> Oracle.Result {
                try #require(
                    try await Oracle.run(["which", command[0]]).status == 0,
                    "scripts/setup --test installs \(command[0])")
                let setUp = ["env", "PATH=\(ToolRun.folder):/usr/bin:/bin", "HOME=\(stage.folder.path)", "TERM=xterm"]
                return try await Oracle.run(setUp + ["timeout", "60"] + command + ["-c", script])
            }
        }

        /// Each line that is begun, and words that must be among what is offered.
        private static func cases(_ place: Place) -> [(line: String, offers: [String])] {
            let state = place.stage.file("studio")
            // fish knows no path with two slashes in a row.
            let folder = place.stage.folder.path.replacing("//", with: "/")
            let films = folder + "/films"
            return [
                ("gantry-studio re", ["receive", "replay", "resume"]),
                ("gantry-studio replay ", ["back", "live", "save"]),
                ("gantry-studio receive --trans", ["--transport"]),
                ("gantry-studio receive --transport ", ["auto", "tcp", "udp"]),
                ("gantry-studio receive --transport=u", ["--transport=udp"]),
                ("gantry-studio receive --record \(films)/o", ["\(films)/old/", "\(films)/one clip.mp4"]),
                ("gantry-studio receive --record=\(films)/one", ["--record=\(films)/one clip.mp4"]),
                ("gantry-studio --state-dir \(folder)/fi", ["\(films)/"]),
                ("gantry-studio --state-dir \(state) receive St", ["Stage left"]),
                ("gantry-studio --state-dir \(state) devices remove ", ["Stage left"]),
            ]
        }

        /// As one word of fish.
        private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "\\'"))'" }

        @Test func fish() async throws {
            let place = try await Place()
            for (line, offers) in Self.cases(place) {
                let script = "source \(place.stage.file("fish")); complete -C \(Self.quoted(line))"
                let answer = try await place.shell(["fish", "--no-config"], script)
                let words = answer.lines.map { String($0.split(separator: "\t").first ?? "") }
                for word in offers { #expect(words.contains(word), "\(line): \(answer.text)\(answer.errors)") }
            }
        }

        /// As a user of bash: the line is typed on a terminal, with a tab behind it.
        @Test(.timeLimit(.minutes(5))) func bashOnATerminal() async throws {
            let place = try await Place()
            let state = place.stage.file("studio")
            let terminal = try await ShellOnTerminal.ready(columns: 200, rows: 40)
            terminal.type(
                "cd \(place.stage.folder.path); bind 'set bell-style none'; source ./bash; clear; echo be''gin\n")
            try await terminal.wait(text: "begin", alternate: false)
            // The line that is typed; what it has become, when `printf` shows its words.
            for (typed, words) in [
                ("gantry-studio rec", "gantry-studio receive"),
                ("gantry-studio receive --transport=u", "gantry-studio receive --transport=udp"),
                ("gantry-studio receive --record films/one", "gantry-studio receive --record films/one\\ clip.mp4"),
                ("gantry-studio receive --record=films/one", "gantry-studio receive --record=films/one\\ clip.mp4"),
                ("gantry-studio --state-dir \(state) devices remove S", "devices remove Stage\\ left"),
                ("gantry-studio --state-dir \(state) devices remove \"S", "devices remove \"Stage left\""),
            ] {
                terminal.type(typed + "\t")
                try await terminal.wait(text: words, alternate: false)
                // Ctrl-U: the line is thrown away.
                terminal.type("\u{15}clear\n")
                try await terminal.wait(for: "an empty screen") { !$0.text.contains("gantry-studio") }
            }
            // A name that a shell would run is a word all the same.
            let name = "Stage $(id)'s"
            let renamed = try await place.stage.studio(["devices", "rename", "Stage left", name]).end()
            #expect(renamed.status == 0, "\(renamed.errorText)")
            for quote in ["", "\"", "'"] {
                terminal.type("gantry-studio () { printf '<%s>' \"$@\"; }\n")
                terminal.type("gantry-studio --state-dir \(state) devices remove \(quote)St\t\n")
                try await terminal.wait(text: "<remove><\(name)>", alternate: false)
                terminal.type("unset -f gantry-studio; clear\n")
                try await terminal.wait(for: "an empty screen") { !$0.text.contains("gantry-studio") }
            }
            // Several: the second tab lists them.
            terminal.type("gantry-studio replay \t\t")
            try await terminal.wait(for: "the list") { screen in
                ["back", "forward", "live", "save", "disarm"].allSatisfy(screen.text.contains)
            }
        }

        /// zsh in a terminal of its own module zpty: each line is typed, completed, and printed as words.
        @Test func zsh() async throws {
            let place = try await Place()
            let state = place.stage.file("studio")
            let script = """
                zmodload zsh/zpty
                zpty shell zsh -f -i
                zpty -w shell "PS1='ready''>'; autoload -Uz compinit; compinit -u -D; setopt no_beep; source \(place.stage.file("zsh")); cd \(place.stage.folder.path)"
                zpty -w shell "print be''gun"
                zpty -r shell out '*begun*'
                while IFS= read -r line; do
                    zpty -w -n shell "$line"$'\\t'$'\\C-A'"print -r -- RESULT "$'\\n'
                    zpty -r shell out '*RESULT gantry-studio*'$'\\n'
                    print -r -- "$out"
                done <'\(place.stage.file("lines"))'
                """
            let lines = [
                ("gantry-studio rec", "RESULT gantry-studio receive"),
                ("gantry-studio receive --transport=u", "RESULT gantry-studio receive --transport=udp"),
                (
                    "gantry-studio receive --record films/one",
                    "RESULT gantry-studio receive --record films/one clip.mp4"
                ),
                (
                    "gantry-studio receive --record=films/one",
                    "RESULT gantry-studio receive --record=films/one clip.mp4"
                ),
                ("gantry-studio --state-dir \(state) devices remove S", "devices remove Stage left"),
            ]
            try Data(lines.map { $0.0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: place.stage.file("lines")))
            let answer = try await place.shell(["zsh", "-f"], script)
            for (line, result) in lines {
                #expect(answer.text.contains(result), "\(line): \(answer.text)\(answer.errors)")
            }
        }

        /// Looking makes no keys.
        @Test func completionLeavesNoState() async throws {
            let folder = try TestFolder()
            for tool in ["gantry-studio", "gantry-producer"] {
                let state = folder.file(tool)
                let answer = try await ToolRun.run(
                    [tool, "complete", "--", "--state-dir", state, "devices", "remove", ""])
                #expect(answer.status == 0 && answer.lines.first == "none", "\(answer.errorText)")
                #expect(!FileManager.default.fileExists(atPath: state))
            }
        }

        /// The manual of the real tools, as their readers judge it.
        @Test(arguments: ["gantry-producer", "gantry-studio"]) func manual(tool: String) async throws {
            let folder = try TestFolder()
            defer { withExtendedLifetime(folder) {} }
            let page = try await ToolRun.run([tool, "manual"])
            let file = folder.file("\(tool).1")
            try page.output.write(to: URL(fileURLWithPath: file))
            for reader in [
                ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"], ["mandoc", "-T", "lint", "-W", "warning"],
            ] {
                let judged = try await Oracle.run(reader + [file])
                #expect(judged.status == 0 && judged.errors.isEmpty, "\(judged.text) \(judged.errors)")
            }
            let shown = try await Oracle.check(["sh", "-c", "MANWIDTH=80 man -E UTF-8 -l \(file) | col -b"])
            let help = try await ToolRun.run([tool, "--help"])
            #expect(shown.text.contains("EXIT STATUS") && help.status == 0)
            // Every command that help shows.
            let commands = help.lines.drop { $0 != "Commands:" }.dropFirst().prefix { $0.hasPrefix("  ") }
            #expect(commands.count > 5)
            for line in commands {
                let name = line.split(separator: " ").first ?? ""
                if line.hasPrefix("   ") { continue }
                #expect(shown.text.contains("\n   \(name)"), "\(name)")
            }
        }
    }
}
