import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

@testable import CommandLineKit

extension SignalTests {
    /// The prompt on a pseudo-terminal; `SignalTests` keeps these apart, since they change the process's handlers.
    @Suite struct SecretPromptTests {
        @Test func showsNothingOfTheAnswer() throws {
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let prompt = try RunningPrompt(on: terminal)
            #expect(terminal.read(until: "Code: ") == "Code: ")
            #expect(terminal.localModes & tcflag_t(ECHO | ICANON) == 0)
            terminal.type("GANTRY:1/SECRET\n")
            #expect(try prompt.answer().text == "GANTRY:1/SECRET")
            #expect(terminal.read(until: "\n") == "\r\n", "no echo: only the line end of the prompt itself")
            #expect(terminal.localModes == before)
            #expect(before & tcflag_t(ECHO) != 0, "the terminal did echo before")
        }

        @Test func understandsTheKeysForCorrection() throws {
            let terminal = try PseudoTerminal()
            let prompt = try RunningPrompt(on: terminal)
            _ = terminal.read(until: "Code: ")
            terminal.type("wrong\u{15}abé\u{7F}c \r")
            #expect(try prompt.answer().text == "abc")
        }

        @Test func endOfInputCancels() throws {
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let prompt = try RunningPrompt(on: terminal)
            _ = terminal.read(until: "Code: ")
            terminal.type("half\u{04}")
            let error = #expect(throws: GantryError.self) { try prompt.answer() }
            #expect(error?.code == .cancelled)
            #expect(terminal.localModes == before)
        }

        @Test func restoresTheTerminalOnASignal() throws {
            // The handler that was there before gets the signal after the terminal is restored.
            let former = signal(SIGINT, SIG_IGN)
            defer { _ = signal(SIGINT, former) }
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let prompt = try RunningPrompt(on: terminal)
            _ = terminal.read(until: "Code: ")
            #expect(terminal.localModes != before)
            kill(getpid(), SIGINT)
            let error = #expect(throws: GantryError.self) { try prompt.answer() }
            #expect(error?.code == .cancelled)
            #expect(terminal.localModes == before)
            var action = sigaction()
            sigaction(SIGINT, nil, &action)
            #expect(unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1, "SIG_IGN is back")
        }

        /// In a session of its own, with the pseudo-terminal as `/dev/tty`.
        @Test func controlCRestoresTheTerminal() async {
            await #expect(processExitsWith: .exitCode(42)) {
                _ = signal(SIGINT, SIG_IGN)
                setsid()
                let terminal = try PseudoTerminal()
                try syscall("TIOCSCTTY") { ioctl(terminal.user.rawValue, UInt(TIOCSCTTY), 0) }
                let before = terminal.localModes
                let prompt = try RunningPrompt {
                    () throws(GantryError) in try SecretPrompt.ask("Code: ", withoutTerminal: "Use a pipe.")
                }
                _ = terminal.read(until: "Code: ")
                let during = terminal.localModes
                terminal.type("half\u{03}")
                let error = #expect(throws: GantryError.self) { try prompt.answer() }
                guard error?.code == .cancelled, during != before, terminal.localModes == before else { exit(1) }
                exit(42)
            }
        }

        @Test func controlCEndsTheProcessWhenNobodyWatches() async {
            await #expect(processExitsWith: .signal(SIGINT)) {
                setsid()
                let terminal = try PseudoTerminal()
                try syscall("TIOCSCTTY") { ioctl(terminal.user.rawValue, UInt(TIOCSCTTY), 0) }
                let prompt = try RunningPrompt(on: terminal)
                _ = terminal.read(until: "Code: ")
                terminal.type("\u{03}")
                _ = try prompt.answer()
            }
        }

        @Test func saysWhatToDoWithoutATerminal() async {
            await #expect(processExitsWith: .exitCode(42)) {
                setsid()
                let error = #expect(throws: GantryError.self) {
                    try SecretPrompt.ask("Code: ", withoutTerminal: "Use a pipe.")
                }
                exit(error?.code == .invalidArgument && error?.message.contains("Use a pipe.") == true ? 42 : 1)
            }
        }

        @Test func refusesALineWithoutEnd() throws {
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let prompt = try RunningPrompt(on: terminal)
            _ = terminal.read(until: "Code: ")
            // In portions that the terminal's own buffer holds.
            for _ in 0..<9 { terminal.type(String(repeating: "x", count: 500)) }
            let error = #expect(throws: GantryError.self) { try prompt.answer() }
            #expect(error?.code == .invalidArgument)
            #expect(terminal.localModes == before)
        }

        @Test func readsOneLineFromAPipe() throws {
            let pipe = try TestPipe()
            StandardStreams.write("  GANTRY:1/X \r\nnext", to: pipe.writeEnd)
            #expect(try SecretPrompt.readLine(from: pipe.readEnd).text == "GANTRY:1/X")
            #expect(pipe.readAvailable() == "next", "takes no more than its line")
        }

        @Test func limitsWhatComesFromAPipe() throws {
            let pipe = try TestPipe()
            StandardStreams.write(String(repeating: "x", count: 4096) + "\n", to: pipe.writeEnd)
            #expect(try SecretPrompt.readLine(from: pipe.readEnd).count == 4096)
            StandardStreams.write(String(repeating: "x", count: 4097) + "\n", to: pipe.writeEnd)
            let error = #expect(throws: GantryError.self) { try SecretPrompt.readLine(from: pipe.readEnd) }
            #expect(error?.code == .invalidArgument)
        }

        @Test func emptyInputIsAnError() throws {
            let null = FileDescriptor(takingOwnership: open("/dev/null", O_RDONLY))
            let error = #expect(throws: GantryError.self) { try SecretPrompt.readLine(from: null.rawValue) }
            #expect(error?.code == .invalidArgument)
        }
    }
}

/// A prompt that waits on a thread of its own.
private final class RunningPrompt: Sendable {
    private let thread: NamedThread
    private let result = LatestSlot<Result<SecretLine, GantryError>>()

    init(_ ask: @escaping @Sendable () throws(GantryError) -> SecretLine) throws(GantryError) {
        thread = try NamedThread("prompt") { [result] in result.put(Result(catching: ask)) }
    }

    convenience init(on terminal: PseudoTerminal) throws(GantryError) {
        try self.init { () throws(GantryError) in try SecretPrompt.ask("Code: ", on: terminal.user) }
    }

    func answer() throws -> SecretLine {
        let value = result.take(until: MonotonicClock.now() + .seconds(5))
        guard let value else { throw GantryError(.timeout, "The prompt did not end.") }
        thread.join()
        return try value.get()
    }
}
