import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

@testable import CommandLineKit

extension SignalTests {
    @Suite struct YesNoPromptTests {
        private static func ask(
            _ terminal: PseudoTerminal, cancellation: EventDescriptor? = nil
        ) async throws -> Result<Bool, any Error> {
            try await onThread {
                Result { try YesNoPrompt.ask("Is it so?", on: terminal.user, cancellation: cancellation) }
            }
        }

        /// Types `answer` when the question is there.
        private static func answer(_ answer: String) async throws -> Bool {
            let terminal = try PseudoTerminal()
            async let result = ask(terminal)
            let question = try await onThread { terminal.read(until: "[y/N] ") }
            #expect(question == "Is it so? [y/N] ")
            terminal.type(answer)
            return try await result.get()
        }

        @Test(arguments: ["y\n", "Y\r", "yes\n", " YES \n", "n\u{7F}y\n"])
        func yesIsYes(_ text: String) async throws { #expect(try await Self.answer(text)) }

        @Test(arguments: [
            "\n", "n\n", "no\n", "yy\n", "yes please\n", "\u{04}", "j\n", String(repeating: "y", count: 100) + "\n",
        ])
        func allElseIsNo(_ text: String) async throws { #expect(try await !Self.answer(text)) }

        @Test func whatWasTypedBeforeIsNoAnswer() async throws {
            let terminal = try PseudoTerminal()
            terminal.type("y\n")
            _ = terminal.read(until: "y\r\n")
            async let result = Self.ask(terminal)
            _ = try await onThread { terminal.read(until: "[y/N] ") }
            terminal.type("n\n")
            #expect(try await !result.get())
        }

        @Test func isTakenBack() async throws {
            let terminal = try PseudoTerminal()
            let cancellation = try EventDescriptor()
            async let result = Self.ask(terminal, cancellation: cancellation)
            _ = try await onThread { terminal.read(until: "[y/N] ") }
            terminal.type("y")
            cancellation.signal()
            let value = try await result
            let error = #expect(throws: GantryError.self) { try value.get() }
            #expect(error?.code == .cancelled)
        }

        @Test func withoutATerminalItIsToldAtOnce() async {
            await #expect(processExitsWith: .exitCode(42)) {
                setsid()
                let null = open("/dev/null", O_RDONLY)
                dup2(null, STDIN_FILENO)
                guard !YesNoPrompt.isPossible else { exit(1) }
                let error = #expect(throws: GantryError.self) {
                    try YesNoPrompt.check(withoutTerminal: "Leave it out.")
                }
                exit(error?.code == .invalidArgument && error?.message.contains("Leave it out.") == true ? 42 : 2)
            }
        }

        @Test func standardInputIsAsGoodAsTheOwnTerminal() async {
            await #expect(processExitsWith: .exitCode(42)) {
                setsid()
                let terminal = try PseudoTerminal()
                dup2(terminal.user.rawValue, STDIN_FILENO)
                guard YesNoPrompt.isPossible else { exit(1) }
                async let answer = onThread { try YesNoPrompt.ask("So?", withoutTerminal: "") }
                let question = try await onThread { terminal.read(until: "[y/N] ") }
                terminal.type("y\n")
                let isYes = try await answer
                exit(isYes && question == "So? [y/N] " ? 42 : 2)
            }
        }
    }
}
