import CommandLineKit
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension SignalTests {
    /// On a pseudo-terminal; the real tool under a shell is in EndToEndTests.
    @Suite struct CodeScreenTests {
        private final class Stage {
            let terminal: PseudoTerminal
            let screen: CodeScreen
            var model: TerminalModel

            init(columns: Int = 60, rows: Int = 20) throws {
                terminal = try PseudoTerminal(columns: UInt16(columns), rows: UInt16(rows))
                model = TerminalModel(columns: columns, rows: rows)
                screen = try CodeScreen(
                    instructions: ["Do this"], windowEnds: MonotonicClock.now() + .seconds(200),
                    descriptor: terminal.user.rawValue)
            }

            func show(_ letter: String) {
                let line = String(repeating: letter, count: 10)
                screen.show(
                    [.init(columns: 10, lines: [String](repeating: line, count: 5))],
                    until: MonotonicClock.now() + .seconds(100))
            }

            /// False when it did not come.
            func wait(_ matches: (TerminalModel) -> Bool) -> Bool {
                let deadline = MonotonicClock.now() + .seconds(10)
                var buffer = [UInt8](repeating: 0, count: 8192)
                while !matches(model) {
                    var waiting = pollfd(fd: terminal.screen.rawValue, events: Int16(POLLIN), revents: 0)
                    guard poll(&waiting, 1, 5000) == 1, MonotonicClock.now() < deadline else { return false }
                    let count = read(terminal.screen.rawValue, &buffer, buffer.count)
                    model.feed(Array(buffer.prefix(max(0, count))))
                }
                return true
            }

            func resize(columns: Int, rows: Int) throws {
                model.resize(columns: columns, rows: rows)
                try terminal.resize(columns: UInt16(columns), rows: UInt16(rows))
                // The terminal is not that of this session, so the kernel sends none.
                kill(getpid(), SIGWINCH)
            }
        }

        @Test func drawsRedrawsAndGivesBack() throws {
            let stage = try Stage()
            let modes = stage.terminal.localModes
            stage.show("a")
            #expect(
                stage.wait { $0.isAlternate && $0.text.contains("aaaaaaaaaa\nNew code in 100 s · window closes in") })
            #expect(stage.terminal.localModes & tcflag_t(ECHO) == 0)
            #expect(!stage.model.isCursorShown)
            #expect(stage.wait { $0.text.contains("New code in 99 s") }, "counts down by itself")
            stage.show("b")
            #expect(stage.wait { $0.text.contains("bbbbbbbbbb\nNew code in 100 s") && !$0.text.contains("aaa") })
            stage.screen.add(message: "It happened")
            stage.screen.add(message: "Again")
            stage.screen.add(message: "It happened")
            #expect(stage.wait { $0.text.contains("Do this\n\nAgain\nIt happened\n") })
            for _ in 0..<3 {
                try stage.resize(columns: 12, rows: 6)
                #expect(stage.wait { $0.text.contains("Enlarge the") && !$0.text.contains("b") })
                try stage.resize(columns: 90, rows: 30)
                #expect(stage.wait { $0.text.contains("bbbbbbbbbb\nNew code") })
            }
            stage.screen.hide()
            #expect(stage.wait { !$0.isAlternate && $0.isCursorShown })
            #expect(stage.terminal.localModes == modes)
            stage.show("c")
            stage.screen.unhide()
            #expect(stage.wait { $0.isAlternate && $0.text.contains("cccccccccc\nNew code") })
            stage.screen.close()
            stage.screen.close()
            #expect(stage.wait { !$0.isAlternate && $0.isCursorShown })
            #expect(stage.terminal.localModes == modes)
            #expect(stage.model.enterCount == 2 && stage.model.leaveCount == 2)
            #expect(stage.model.usualText.allSatisfy { $0 == "\n" }, "nothing of it stays: \(stage.model.usualText)")
            #expect(stage.model.unknown.isEmpty)
        }

        @Test func nothingIsDrawnAfterTheEnd() throws {
            let stage = try Stage()
            stage.screen.close()
            stage.show("a")
            stage.screen.add(message: "late")
            var waiting = pollfd(fd: stage.terminal.screen.rawValue, events: Int16(POLLIN), revents: 0)
            #expect(poll(&waiting, 1, 0) == 0)
        }

        @Test func aSimpleTerminalIsNone() throws {
            let terminal = try PseudoTerminal()
            #expect(CodeScreen.isPossible(on: terminal.user.rawValue, terminalType: "xterm"))
            #expect(!CodeScreen.isPossible(on: terminal.user.rawValue, terminalType: "dumb"))
            #expect(!CodeScreen.isPossible(on: terminal.user.rawValue, terminalType: nil))
            let pipe = try TestPipe()
            #expect(!CodeScreen.isPossible(on: pipe.writeEnd, terminalType: "xterm"))
        }
    }
}
