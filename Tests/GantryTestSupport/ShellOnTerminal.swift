import Foundation
import GantryCore
import GantryPlatform
import Glibc

/// A shell with job control on a pseudo-terminal, as a user has it, and what its screen shows.
///
/// The shell and its jobs are hung up with the object at the latest.
package final class ShellOnTerminal: @unchecked Sendable {  // `process` is safe after `init`.
    package let screen: Watched<TerminalModel>
    private let terminal: PseudoTerminal
    private let stopping: EventDescriptor
    private let process = Process()

    private static let prompt = "ready>"

    /// Returns before the prompt is there.
    package init(columns: Int = 80, rows: Int = 24) throws {
        screen = Watched(TerminalModel(columns: columns, rows: rows))
        let terminal = try PseudoTerminal(columns: UInt16(columns), rows: UInt16(rows))
        self.terminal = terminal
        stopping = try EventDescriptor()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["--ctty", "--wait", "bash", "--norc", "--noprofile", "-i"]
        var environment = ProcessInfo.processInfo.environment
        environment["GANTRY_STATE_DIR"] = nil
        environment["PATH"] = ToolRun.folder + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
        environment["TERM"] = "xterm-256color"
        environment["PS1"] = Self.prompt
        environment["HISTFILE"] = "/dev/null"
        environment["PROMPT_COMMAND"] = nil
        process.environment = environment
        let handle = FileHandle(fileDescriptor: terminal.user.rawValue, closeOnDealloc: false)
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        try process.runUnblocked()
        read()
    }

    /// One that waits for a command.
    package static func ready(columns: Int = 80, rows: Int = 24) async throws -> ShellOnTerminal {
        let shell = try ShellOnTerminal(columns: columns, rows: rows)
        try await shell.wait(text: prompt, alternate: false)
        return shell
    }

    deinit {
        stopping.signal()
        // The shell goes with its terminal; `kill` is for a setsid that waits for it.
        kill(process.processIdentifier, SIGHUP)
    }

    private func read() {
        let (screen, terminal, stopping) = (screen, terminal, stopping)
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                var waiting = [
                    pollfd(fd: terminal.screen.rawValue, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: stopping.rawValue, events: Int16(POLLIN), revents: 0),
                ]
                _ = poll(&waiting, 2, -1)
                if waiting[1].revents != 0 { return }
                let count = Glibc.read(terminal.screen.rawValue, &buffer, buffer.count)
                guard count > 0 else { return }
                let bytes = Array(buffer.prefix(count))
                screen.change { $0.feed(bytes) }
            }
        }
    }

    package func type(_ text: String) { terminal.type(text) }

    package func resize(columns: Int, rows: Int) throws {
        screen.change { $0.resize(columns: columns, rows: rows) }
        try terminal.resize(columns: UInt16(columns), rows: UInt16(rows))
    }

    /// Sends a signal to the process in the foreground.
    package func signal(_ number: Int32) {
        let group = terminal.foreground
        if group > 1 { kill(-group, number) }
    }

    /// Waits until the screen is as asked for, and returns it; throws with what it shows otherwise.
    @discardableResult
    package func wait(
        for what: String, _ matches: @escaping @Sendable (TerminalModel) -> Bool
    ) async throws -> TerminalModel {
        guard try await screen.wait(until: matches) else {
            throw Oracle.Failure(text: "\(what) did not come. The screen:\n\(screen.value.text)")
        }
        return screen.value
    }

    /// Waits for text on the screen that is seen, the alternate or the usual one.
    @discardableResult
    package func wait(text: String, alternate: Bool) async throws -> TerminalModel {
        try await wait(for: text) { $0.isAlternate == alternate && $0.text.contains(text) }
    }

    /// The text of the QR code that is seen, or that is when all is drawn.
    package func code() async throws -> String {
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.file("screen.pgm")
        for _ in 0..<4 {
            let seen = screen.value
            try Data(seen.picture()).write(to: URL(fileURLWithPath: path))
            if let text = try await QRReading.text(in: path) { return text }
            // Half drawn: the countdown changes the screen every second at the latest.
            _ = try await screen.wait(.seconds(5)) { $0.cells != seen.cells }
        }
        throw Oracle.Failure(text: "No code can be read. The screen:\n\(screen.value.text)")
    }
}
