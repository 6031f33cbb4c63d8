package import GantryCore
package import GantryPlatform
import Glibc

/// Asks a question that is answered with yes or no.
package enum YesNoPrompt {
    /// Bytes of an answer that are looked at; more is no "yes".
    private static let limit = 64

    /// Whether there is a terminal to ask on: the process's own (`/dev/tty`), or standard input.
    package static var isPossible: Bool { terminal() != nil }

    /// For the start of a command that will ask later.
    ///
    /// - Parameter withoutTerminal: what to do instead, a whole sentence for the error.
    /// - Throws: `invalidArgument` when there is no terminal to ask on.
    package static func check(withoutTerminal: String) throws(GantryError) {
        guard isPossible else { throw noTerminal(withoutTerminal) }
    }

    /// Writes "QUESTION [y/N] " to the terminal and reads one line. What was typed before the question is forgotten,
    /// so that it is no answer. Blocks; not for the cooperative pool.
    ///
    /// The terminal stays in the mode that it has: signals need no care.
    /// - Parameters:
    ///   - question: one line, safe to print.
    ///   - cancellation: signalled by another thread to end the waiting; not cleared here.
    ///   - withoutTerminal: as in `check`.
    /// - Returns: true for "y" and "yes" in any case; false for all else and for the end of the input.
    /// - Throws: `invalidArgument` without a terminal, `cancelled` through `cancellation`, `general` when the terminal
    ///   cannot be read.
    package static func ask(
        _ question: String, cancellation: EventDescriptor? = nil, withoutTerminal: String
    ) throws(GantryError) -> Bool {
        guard let terminal = terminal() else { throw noTerminal(withoutTerminal) }
        return try ask(question, on: terminal, cancellation: cancellation)
    }

    /// As `ask` for an answer of more than one kind: the line that was typed, without what is beyond 64 bytes; empty at
    /// the end of the input.
    ///
    /// - Parameter prompt: all that is written before the answer.
    package static func line(
        _ prompt: String, cancellation: EventDescriptor? = nil, withoutTerminal: String
    ) throws(GantryError) -> String {
        guard let terminal = terminal() else { throw noTerminal(withoutTerminal) }
        return String(decoding: try line(prompt, on: terminal, cancellation: cancellation), as: UTF8.self)
    }

    static func ask(
        _ question: String, on terminal: FileDescriptor, cancellation: EventDescriptor?
    ) throws(GantryError) -> Bool {
        isYes(try line("\(question) [y/N] ", on: terminal, cancellation: cancellation))
    }

    private static func line(
        _ prompt: String, on terminal: FileDescriptor, cancellation: EventDescriptor?
    ) throws(GantryError) -> [UInt8] {
        let descriptor = terminal.rawValue
        tcflush(descriptor, TCIFLUSH)
        StandardStreams.write(prompt, to: descriptor)
        var answer: [UInt8] = []
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                // poll(2) passes over a negative number.
                pollfd(fd: cancellation?.rawValue ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, nfds_t(waiting.count), -1)
            if waiting[1].revents != 0 {
                StandardStreams.write("\n", to: descriptor)
                throw GantryError(.cancelled, "The question was taken back.")
            }
            guard waiting[0].revents != 0 else { continue }
            guard let byte = try SecretPrompt.nextByte(descriptor, of: "terminal") else {
                StandardStreams.write("\n", to: descriptor)
                return []
            }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { return answer }
            if answer.count < limit { answer.append(byte) }
        }
    }

    static func isYes(_ answer: [UInt8]) -> Bool {
        let words = String(decoding: answer, as: UTF8.self).lowercased().split { $0 == " " || $0 == "\t" }
        return words == ["y"] || words == ["yes"]
    }

    private static func terminal() -> FileDescriptor? {
        let own = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        if own >= 0 { return FileDescriptor(takingOwnership: own) }
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        // Opened anew, since standard input may be open for reading only.
        let input = open("/proc/self/fd/0", O_RDWR | O_CLOEXEC | O_NOCTTY)
        return input >= 0 ? FileDescriptor(takingOwnership: input) : nil
    }

    private static func noTerminal(_ advice: String) -> GantryError {
        GantryError(.invalidArgument, "There is no terminal to ask on. \(advice)")
    }
}
