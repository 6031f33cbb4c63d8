import Foundation
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// `gantry-studio pair` as a user sees it: in a shell on a terminal, the real tool.
    @Suite struct ToolDisplayTests {
        private static let half: Character = "\u{2580}"

        private static func start(
            _ stage: ToolStage, _ arguments: String = "", columns: Int = 100, rows: Int = 40
        ) async throws -> ShellOnTerminal {
            let shell = try await ShellOnTerminal.ready(columns: columns, rows: rows)
            shell.type(
                "gantry-studio --state-dir \(stage.file("studio")) pair --address 127.0.0.1 \(arguments); "
                    + "echo status=$?; stty -a\n")
            return shell
        }

        /// Waits for the code and reads it with zbarimg.
        private static func code(_ shell: ShellOnTerminal) async throws -> String {
            try await shell.wait(text: "New code in", alternate: true)
            let code = try await shell.code()
            #expect(code.hasPrefix("GANTRY:1/"))
            return code
        }

        /// Waits for the end of the command, and looks whether the terminal is as it was.
        @discardableResult
        private static func expectEnd(
            _ shell: ShellOnTerminal, status: Int, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> String {
            let screen = try await shell.wait(for: "the end") {
                !$0.isAlternate && $0.usualText.contains("extproc")
            }
            let text = screen.usualText
            #expect(text.contains("status=\(status)\n"), "\(text)", sourceLocation: sourceLocation)
            // Of stty: both were switched off while the code was drawn.
            #expect(text.contains(" echo "), "\(text)", sourceLocation: sourceLocation)
            #expect(text.contains("icanon"), sourceLocation: sourceLocation)
            #expect(!text.contains("-icanon"), sourceLocation: sourceLocation)
            #expect(screen.isCursorShown, sourceLocation: sourceLocation)
            #expect(screen.enterCount == screen.leaveCount, sourceLocation: sourceLocation)
            #expect(!text.contains(half), "The code is on the usual screen", sourceLocation: sourceLocation)
            #expect(!text.contains("GANTRY:"), sourceLocation: sourceLocation)
            #expect(!text.contains("New code in"), sourceLocation: sourceLocation)
            return text
        }

        /// In a folder for all anybody may have put a pipe there: it would get the code.
        @Test(.enabled(if: geteuid() == 0, "gives a file away"), arguments: ["png", "svg"])
        func aPipeOfSomebodyElseGetsNoCode(kind: String) async throws {
            let stage = try ToolStage()
            let pipe = stage.file("code.\(kind)")
            try #require(mkfifo(pipe, 0o666) == 0 && chown(pipe, 12345, 12345) == 0)
            let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(reader) }
            let end = try await stage.studio(
                ["pair", "--address", "127.0.0.1", "--duration", "1s", "--\(kind)", pipe], json: false
            ).end()
            expectFailure(end, status: 4, saying: ["belongs to another user", pipe])
            var byte: UInt8 = 0
            #expect(read(reader, &byte, 1) <= 0)
        }

        @Test func theCodeFollowsTheSizeOfTheTerminal() async throws {
            let stage = try ToolStage()
            let shell = try await Self.start(stage, columns: 50, rows: 12)
            // Advice instead of failing, and no part of a code.
            let small = try await shell.wait(text: "Enlarge the terminal to at least", alternate: true)
            #expect(!small.text.contains(Self.half))
            try shell.resize(columns: 80, rows: 24)
            let first = try await Self.code(shell)
            try shell.resize(columns: 120, rows: 50)
            try await shell.wait(text: "gantry-producer pair --camera auto", alternate: true)
            #expect(try await Self.code(shell) == first)
            try shell.resize(columns: 30, rows: 8)
            try await shell.wait(for: "the advice") { $0.text.contains("Enlarge") && !$0.text.contains(Self.half) }
            try shell.resize(columns: 90, rows: 40)
            #expect(try await Self.code(shell) == first)
            shell.type("\u{03}")
            let text = try await Self.expectEnd(shell, status: 7)
            #expect(text.contains("cancelled"))
        }

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
        func everySignalGivesTheTerminalBack(_ signal: Int32) async throws {
            let stage = try ToolStage()
            let (png, svg) = (stage.file("code.png"), stage.file("code.svg"))
            let shell = try await Self.start(stage, "--png \(png) --svg \(svg)")
            let drawn = try await Self.code(shell)
            let read = try await Oracle.check(["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", png])
            #expect(read.text.trimmingCharacters(in: .whitespacesAndNewlines) == drawn)
            for path in [png, svg] {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            shell.signal(signal)
            try await Self.expectEnd(shell, status: 7)
            let left = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path)
            #expect(!left.contains { $0.contains("code.") }, "\(left)")
        }

        @Test func twoSignalsAtOnceGiveTheTerminalBackToo() async throws {
            let stage = try ToolStage()
            let png = stage.file("code.png")
            let shell = try await Self.start(stage, "--png \(png)")
            _ = try await Self.code(shell)
            shell.signal(SIGTERM)
            shell.signal(SIGHUP)
            let screen = try await shell.wait(for: "the end") { !$0.isAlternate && $0.usualText.contains("extproc") }
            let text = screen.usualText
            // Whether the second comes before the good end is a matter of luck: 7, or 128 + a signal.
            #expect(!text.contains("status=0") && text.contains(" echo ") && !text.contains(Self.half))
            #expect(screen.isCursorShown && screen.enterCount == screen.leaveCount)
            #expect(!FileManager.default.fileExists(atPath: png))
        }

        @Test func aStoppedToolLeavesTheTerminalAndComesBack() async throws {
            let stage = try ToolStage()
            // Not through `start`: bash goes on with the rest of a line when its first command is stopped.
            let shell = try await ShellOnTerminal.ready(columns: 100, rows: 40)
            shell.type("gantry-studio --state-dir \(stage.file("studio")) pair --address 127.0.0.1\n")
            let code = try await Self.code(shell)
            shell.type("\u{1A}")
            let stopped = try await shell.wait(for: "the shell") {
                !$0.isAlternate && $0.usualText.contains("Stopped") && $0.isCursorShown
            }
            #expect(!stopped.usualText.contains(Self.half))
            // In the background it does not draw, whatever happens.
            shell.type("bg; echo back''ground\n")
            try await shell.wait(text: "background", alternate: false)
            try shell.resize(columns: 110, rows: 45)
            shell.type("echo still''here\n")
            let behind = try await shell.wait(text: "stillhere", alternate: false)
            #expect(behind.enterCount == 1 && behind.leaveCount == 1)
            shell.type("fg\n")
            #expect(try await Self.code(shell) == code)
            shell.type("\u{03}")
            try await shell.wait(for: "the end") { !$0.isAlternate && $0.usualText.contains("cancelled") }
            shell.type("echo status=$?; stty -a\n")
            try await Self.expectEnd(shell, status: 7)
        }

        @Test func aStrangerSpoilsNothing() async throws {
            let stage = try ToolStage()
            let shell = try await Self.start(stage)
            let code = try await Self.code(shell)
            // Another secret, the right studio.
            let wrong = codeWithMadeUpSecret(code)
            let producer = try await stage.producer(["pair", "-"], input: .text(wrong)).end()
            #expect(producer.status != 0)
            try await shell.wait(text: "An attempt failed", alternate: true)
            #expect(try await shell.code() == code)
            let good = try await stage.producer(
                ["pair", "-", "--port", stage.port, "--name", "Camera"], input: .text(code)
            ).end()
            #expect(good.status == 0, "\(good.errorText)")
            let text = try await Self.expectEnd(shell, status: 0)
            #expect(text.contains("Paired with Camera. "))
            #expect(text.contains("An attempt failed"), "told again where it stays")
        }

        // MARK: --confirm

        @Test(arguments: [true, false])
        func theNumberIsAskedFor(_ isSame: Bool) async throws {
            let stage = try ToolStage()
            let shell = try await Self.start(stage, "--confirm")
            let code = try await Self.code(shell)
            let producer = try stage.producer(
                ["pair", "-", "--port", stage.port, "--name", "Camera"], json: false, input: .text(code))
            let asked = try await shell.wait(for: "the question") {
                !$0.isAlternate && $0.text.contains("[y/N]")
            }
            let number = try #require(
                asked.text.firstMatch(of: /Does the producer show ([0-9]{6})\? \[y\/N\]/)?.output.1)
            #expect(!asked.text.contains(Self.half))
            // Nothing is settled before the answer.
            #expect(producer.state.value.status == nil)
            shell.type(isSame ? "y\n" : "n\n")
            let end = try await producer.end()
            #expect((end.errorText + end.outputText).contains(number), "\(end.errorText)")
            #expect((end.status == 0) == isSame, "\(end.errorText)")
            #expect(end.errorText.contains("declined at the other end") == !isSame, "\(end.errorText)")
            if isSame {
                #expect(try await Self.expectEnd(shell, status: 0).contains("Paired with Camera"))
            } else {
                // The window stays open, and the same code is there again.
                let screen = try await shell.wait(text: "An attempt failed", alternate: true)
                #expect(!screen.text.contains("other end"), "It was this one.")
                #expect(try await Self.code(shell) == code)
                shell.type("\u{03}")
                try await Self.expectEnd(shell, status: 7)
            }
        }

        @Test func aQuestionEndsWithTheWindow() async throws {
            let stage = try ToolStage()
            let shell = try await Self.start(stage, "--confirm")
            let code = try await Self.code(shell)
            let producer = try stage.producer(["pair", "-", "--port", stage.port], json: false, input: .text(code))
            try await shell.wait(for: "the question") { !$0.isAlternate && $0.text.contains("[y/N]") }
            shell.type("\u{03}")
            let text = try await Self.expectEnd(shell, status: 7)
            #expect(!text.contains("An attempt failed"), "Who cancels has not failed: \(text)")
            let end = try await producer.end()
            #expect(end.status == 7 && end.errorText.contains("cancelled at the other end"), "\(end.errorText)")
        }

        @Test func aQuestionEndsWithItsAttempt() async throws {
            let stage = try ToolStage()
            let shell = try await Self.start(stage, "--confirm")
            let code = try await Self.code(shell)
            let producer = try stage.producer(["pair", "-", "--port", stage.port], json: false, input: .text(code))
            try await shell.wait(for: "the question") { !$0.isAlternate && $0.text.contains("[y/N]") }
            producer.signal(SIGINT)
            #expect(try await producer.end().errorText.contains("The pairing was cancelled.\n"))
            try await shell.wait(text: "cancelled at the other end", alternate: true)
            shell.type("\u{03}")
            let text = try await Self.expectEnd(shell, status: 7)
            // Lines of their own, behind a question that nobody has to answer any more.
            #expect(text.contains(/\[y\/N\] *\n/) && text.contains("\nAn attempt failed"), "\(text)")
        }

        @Test(arguments: [[], ["--json"]])
        func confirmingNeedsATerminal(_ json: [String]) async throws {
            let stage = try ToolStage()
            // In a session without a terminal, also where the tests run in one.
            let state = try await ToolRun(
                ["setsid", "--wait", ToolRun.folder + "/gantry-studio", "--state-dir", stage.file("studio")] + json
                    + ["pair", "--confirm", "--text", "--address", "127.0.0.1"]
            ).end()
            expectFailure(
                state, status: 2, saying: ["--confirm needs", "terminal"], isJSON: !json.isEmpty)
            #expect(!state.outputText.contains("GANTRY:"))
        }

        // MARK: Without drawing

        @Test(arguments: ["receive --ts -", "receive --y4m -", "receive --snapshot -", "pair --png -", "pair --svg -"])
        func bytesDoNotGoToATerminal(_ command: String) async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let shell = try await ShellOnTerminal.ready(columns: 100, rows: 40)
            shell.type("gantry-studio --state-dir \(stage.file("studio")) \(command); echo status=$?; stty -a\n")
            try await Self.expectEnd(shell, status: 2)
        }

        @Test func textGoesToOutputAndItsLifeToErrors() async throws {
            let stage = try ToolStage()
            let studio = try stage.studio(["pair", "--text", "--address", "127.0.0.1"], json: false)
            try await studio.errors(containing: "good for")
            studio.signal(SIGTERM)
            let end = try await studio.end()
            #expect(end.lines.count == 1 && end.lines[0].hasPrefix("GANTRY:1/"))
            #expect(end.errorText.contains(/The code is good for 1(19|20) s\./))
            #expect(!end.errorText.contains("GANTRY:") && !end.errorText.contains("\u{1B}"))
        }

        @Test func eventsAreJSONLines() async throws {
            let stage = try ToolStage()
            let (code, studio) = try await stage.showCode()
            let wrong = codeWithMadeUpSecret(code)
            _ = try await stage.producer(["pair", "-"], input: .text(wrong)).end()
            try await studio.line(containing: "\"attemptFailed\"")
            let producer = try await stage.producer(
                ["pair", "-", "--port", stage.port, "--name", "Camera"], input: .text(code)
            ).end()
            #expect(producer.status == 0, "\(producer.errorText)")
            let end = try await studio.end()
            #expect(end.status == 0)
            let life = try #require(end.event("code")?["lifeSeconds"] as? Int)
            #expect(115...120 ~= life)
            #expect((end.event("comparison")?["number"] as? String)?.wholeMatch(of: /[0-9]{6}/) != nil)
            #expect(end.event("comparison")?["needsAnswer"] as? Bool == false)
            #expect((end.event("attemptFailed")?["message"] as? String)?.isEmpty == false)
            #expect(end.event("paired")?["name"] as? String == "Camera")
            #expect(end.lines.last?.contains("\"paired\"") == true, "the last of all events")
        }
    }
}
