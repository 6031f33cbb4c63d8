import Foundation
import GantryCore
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// The live view of `receive` and `run` on a real terminal of a shell with job control. On a machine that has much to do a
    /// curve may have gaps: seconds without a picture.
    @Suite struct ToolLiveViewTests {
        private static func shell(columns: Int = 100, rows: Int = 30) async throws -> ShellOnTerminal {
            let shell = try await ShellOnTerminal.ready(columns: columns, rows: rows)
            shell.type("echo be''fore\n")
            try await shell.wait(text: "\nbefore\n", alternate: false)
            return shell
        }

        /// The terminal as it was, and nothing of the view on it.
        private static func expectOrder(_ shell: ShellOnTerminal, status: Int) async throws {
            shell.type("echo status=$?; stty -a\n")
            let end = try await shell.wait(for: "the end") {
                $0.text.contains(/\nstatus=\d+\n(.*\n)*.*extproc/)
            }
            #expect(end.text.contains("status=\(status)\n"), "\(end.text)")
            #expect(end.text.contains(" icanon") && end.text.contains(" echo "), "\(end.text)")
            #expect(!end.usualText.contains("── "), "\(end.usualText)")
            #expect(end.usualText.contains("\nbefore\n"), "what was printed before stays")
            #expect(end.isCursorShown && end.enterCount == 0 && end.unknown.isEmpty, "\(end.unknown)")
        }

        @Test func receiveShowsHowItGoes() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let shell = try await Self.shell()
            shell.type("gantry-studio --state-dir \(stage.file("studio")) receive --replay\n")
            let full = try await shell.wait(for: "figures") {
                $0.text.contains(/── Camera · receiving · LAN, TCP · 127\.0\.0\.1:\d+ · \d:\d\d ─+\n/)
                    && $0.text.contains(/\npicture +320x180 · [\d.]+ fps · [\d.]+ Mbit\/s/)
                    && $0.text.contains(/\nlatency  p50 [\d.]+ · p95 [\d.]+ ms +[▁-█][▁-█ ]* 0-\d+ ms\n/)
                    && $0.text.contains(/\nsound    L █+░* +-\d+ dB  R █+░* +-\d+ dB\n/)
                    && $0.text.contains("\ndropped  producer ") && $0.text.contains("replay holds ")
            }
            #expect(full.text.ranges(of: "── Camera").count == 1, "\(full.text)")

            // Events scroll above it.
            shell.type(" ")
            try await shell.wait(for: "the pause") {
                $0.text.contains(/Paused here.*\n(.*\n)*── Camera · paused here/)
            }
            shell.type(" ")
            try await shell.wait(text: "── Camera · receiving", alternate: false)

            try shell.resize(columns: 50, rows: 30)
            let narrow = try await shell.wait(for: "the narrow view") {
                $0.text.contains(/\nlatency  p50 [\d.]+ · p95 [\d.]+ ms\n +[▁-█][▁-█ ]* 0-\d+ ms\n/)
            }
            #expect(narrow.text.ranges(of: "── Camera").count == 1, "\(narrow.text)")
            try shell.resize(columns: 100, rows: 30)

            // Away while the shell has the terminal, and there again.
            shell.type("\u{1A}")
            let stopped = try await shell.wait(text: "Stopped", alternate: false)
            #expect(!stopped.text.contains("── "), "\(stopped.text)")
            shell.type("bg; echo back''ground\n")
            try await shell.wait(text: "\nbackground\n", alternate: false)
            shell.type("stty -a\n")
            let behind = try await shell.wait(text: " icanon", alternate: false)
            #expect(!behind.text.contains("── "), "\(behind.text)")
            shell.type("fg\n")
            try await shell.wait(text: "── Camera · receiving", alternate: false)

            shell.type("q")
            try await shell.wait(text: "Received ", alternate: false)
            try await Self.expectOrder(shell, status: 0)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func runShowsHowItGoes() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let shell = try await Self.shell(columns: 90, rows: 30)
            shell.type(
                "gantry-producer --state-dir \(stage.file("producer")) run test --size 320x180 --port \(stage.port) "
                    + "--name 'Porch 日本 🎥'\n")
            try await shell.wait(for: "the view") { $0.text.contains(" · waiting for a studio · ") }
            let studio = try await stage.startReceiving(["--name", "Desk"])
            let seen = try await shell.wait(for: "the figures") {
                $0.text.contains(" · sending · port ") && $0.text.contains(/\nstudios +.*127\.0\.0\.1/)
                    && $0.text.contains(/\npicture +320x180 · [\d.]+ fps · [\d.]+ Mbit\/s/)
                    && $0.text.contains(/\nto sent +p50 [\d.]+ · p95 [\d.]+ ms +[▁-█][▁-█ ]* 0-\d+ ms\n/)
                    && $0.text.contains(/\nsound +L █+/)
            }
            #expect(seen.text.ranges(of: "left out").count == 1, "\(seen.text)")
            shell.type("\u{1A}")
            let stopped = try await shell.wait(text: "Stopped", alternate: false)
            #expect(!stopped.text.contains("── "), "\(stopped.text)")
            shell.type("fg\n")
            try await shell.wait(for: "the view again") { $0.text.contains(/── .* · port \d+/) }
            shell.type("\u{03}")
            try await shell.wait(text: "Sent ", alternate: false)
            try await Self.expectOrder(shell, status: 0)
            _ = try await studio.end()
        }

        @Test(arguments: ["--plain", "dumb"]) func plainLinesWhereTheyAreWanted(_ how: String) async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let shell = try await Self.shell()
            let isDumb = how == "dumb"
            shell.type(
                "\(isDumb ? "TERM=dumb " : "")gantry-studio --state-dir \(stage.file("studio")) receive "
                    + "\(isDumb ? "" : "--plain")\n")
            // The first line may come before the first picture.
            try await shell.wait(for: "a line") { $0.text.contains(/\n[\d.]+ s · 320x180 [\d.]+ fps ·/) }
            shell.type("q")
            try await shell.wait(text: "Received ", alternate: false)
            try await Self.expectOrder(shell, status: 0)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func anErrorTakesItAway() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let shell = try await Self.shell()
            shell.type("NO_COLOR=1 gantry-studio --state-dir \(stage.file("studio")) receive --no-reconnect\n")
            let seen = try await shell.wait(text: "── Camera · receiving", alternate: false)
            #expect(seen.cells.joined().allSatisfy { $0.foreground == nil }, "no colours")
            producer.signal(SIGKILL)
            try await shell.wait(text: "gantry-studio: ", alternate: false)
            try await Self.expectOrder(shell, status: 5)
        }
    }
}
