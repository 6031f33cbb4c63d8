import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// The keys of the terminal in which `receive` or `run` runs.
    @Suite struct ToolKeysTests {
        /// The tool has ended well, and the terminal is as it was.
        private static func expectEnd(
            _ shell: ShellOnTerminal, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            shell.type("echo status=$?; stty -a\n")
            let end = try await shell.wait(for: "the end") {
                $0.text.contains("status=") && $0.text.contains("extproc")
            }
            #expect(end.text.contains("status=0"), "\(end.text)", sourceLocation: sourceLocation)
            #expect(
                end.text.contains(" icanon") && end.text.contains(" echo "), "\(end.text)",
                sourceLocation: sourceLocation)
        }

        @Test func keysPauseTheProducerAndItsStreams() async throws {
            let stage = try ToolStage()
            let shell = try await ShellOnTerminal.ready(columns: 120, rows: 40)
            shell.type(
                "gantry-producer --state-dir \(stage.file("producer")) run test --size 320x180 --audio off --port 0\n")
            try await shell.wait(text: "Space pauses", alternate: false)
            shell.type(" ")
            try await shell.wait(text: "Paused.", alternate: false)
            shell.type(" ")
            try await shell.wait(text: "Resumed.", alternate: false)
            shell.type("v")
            try await shell.wait(text: "Studios are offered no picture now.", alternate: false)
            shell.type("V")
            try await shell.wait(text: "Studios are offered picture again.", alternate: false)
            shell.type("a")
            try await shell.wait(text: "This producer has no sound", alternate: false)
            // What is typed behind it is for the shell.
            shell.type("qecho a=$? ahe''ad\n")
            try await shell.wait(text: "Sent 0 frames", alternate: false)
            try await shell.wait(text: "\na=0 ahead\n", alternate: false)
            try await Self.expectEnd(shell)
        }

        @Test func aTerminalThatGoesAwayEndsWhatRunsInIt() async throws {
            let stage = try ToolStage()
            var shell: ShellOnTerminal? = try await ShellOnTerminal.ready(columns: 120, rows: 40)
            shell?.type(
                "echo shell=$$; gantry-producer --state-dir \(stage.file("producer")) run test --size 320x180 --port 0\n"
            )
            let screen = try await shell?.wait(text: "Space pauses", alternate: false)
            let number = try #require(screen?.text.firstMatch(of: /shell=([0-9]+)/)?.1)
            let children = try String(contentsOfFile: "/proc/\(number)/task/\(number)/children", encoding: .utf8)
            let ends = ["/proc/\(number)"] + children.split(separator: " ").map { "/proc/\($0)" }
            #expect(ends.count == 2)
            shell = nil
            #expect(try await onThread { waitUntil { !ends.contains { FileManager.default.fileExists(atPath: $0) } } })
        }

        @Test func keysPauseAndReplay() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let shell = try await ShellOnTerminal.ready(columns: 120, rows: 40)
            shell.type(
                "cd \(stage.folder.path); gantry-studio --state-dir \(stage.file("studio")) receive --replay\n")
            try await shell.wait(text: "Space pauses", alternate: false)
            // There is nothing to go back to before.
            try await shell.wait(for: "something to show again") { $0.text.contains(/replay holds [1-9]/) }
            shell.type("\u{1b}[D")
            try await shell.wait(text: "Showing what came", alternate: false)
            shell.type("\u{1b}OF")
            try await shell.wait(text: "Live again.", alternate: false)
            shell.type("s")
            try await shell.wait(text: "Saved ", alternate: false)
            let saved = try #require(
                try FileManager.default.contentsOfDirectory(atPath: stage.folder.path).first {
                    $0.hasPrefix("replay-") && $0.hasSuffix(".mp4")
                })
            try await Judge.expectSound(stage.file(saved))
            shell.type(" ")
            try await shell.wait(text: "Paused here", alternate: false)
            shell.type(" ")
            try await shell.wait(text: "Nothing is paused here any more.", alternate: false)

            // The shell has its terminal meanwhile, and gives it back.
            shell.type("\u{1A}")
            try await shell.wait(text: "Stopped", alternate: false)
            shell.type("echo sh''ell; stty -a\n")
            try await shell.wait(for: "the shell") { $0.text.contains("shell") && $0.text.contains(" icanon") }
            shell.type("clear; fg\n")
            try await shell.wait(text: "receive --replay", alternate: false)
            shell.type(" ")
            try await shell.wait(text: "Paused here", alternate: false)

            shell.type("\u{03}")
            // A shell forgets the rest of a line whose command was stopped.
            try await shell.wait(text: "Received", alternate: false)
            try await Self.expectEnd(shell)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }
    }
}
