package import GantryCore
import GantryPlatform
import Glibc

/// Asks for one line that is not shown while it is typed.
package enum SecretPrompt {
    /// Bytes that a line may have.
    package static let limit = 4096

    /// Asks on the process's terminal (`/dev/tty`), whatever standard input and output are. Blocks; not for the
    /// cooperative pool.
    ///
    /// A signal that ends the process puts the terminal's state back first.
    /// - Parameters:
    ///   - prompt: what is written before the answer.
    ///   - withoutTerminal: what to do instead when there is no terminal, a whole sentence for the error.
    /// - Throws: `invalidArgument` without a terminal or for a line over the limit, `cancelled` after Ctrl-C or Ctrl-D.
    package static func ask(_ prompt: String, withoutTerminal: String) throws(GantryError) -> SecretLine {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw GantryError(
                .invalidArgument, "There is no terminal to ask on. \(withoutTerminal)",
                cause: SystemError(errno: errno, during: "open /dev/tty").description)
        }
        return try ask(prompt, on: FileDescriptor(takingOwnership: descriptor))
    }

    /// Reads the first line of standard input, for `-`. Blocks until the line or the input ends.
    ///
    /// - Throws: `invalidArgument` for an empty input or a line over the limit.
    package static func readStandardInput() throws(GantryError) -> SecretLine {
        try readLine(from: STDIN_FILENO)
    }

    static func readLine(from descriptor: CInt) throws(GantryError) -> SecretLine {
        let line = SecretLine(capacity: limit)
        while let byte = try nextByte(descriptor), byte != UInt8(ascii: "\n") {
            guard line.append(byte) else { throw tooLong }
        }
        guard line.count > 0 else {
            throw GantryError(.invalidArgument, "Nothing came on standard input. Send it one line.")
        }
        return line
    }

    static func ask(_ prompt: String, on terminal: FileDescriptor) throws(GantryError) -> SecretLine {
        let pipe = try SignalPipe([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
        defer { pipe.restore() }
        let quiet = try QuietTerminal(terminal)
        StandardStreams.write(prompt, to: terminal.rawValue)
        let result = Result { () throws(GantryError) in try readTyped(from: terminal.rawValue, pipe) }
        quiet.restore()
        // The return key was not shown either.
        StandardStreams.write("\n", to: terminal.rawValue)
        let line = try result.get()
        guard let line else { throw interrupted(pipe) }
        return line
    }

    /// Nil when a signal waits in `pipe`.
    private static func readTyped(
        from descriptor: CInt, _ pipe: SignalPipe
    ) throws(GantryError) -> SecretLine? {
        let line = SecretLine(capacity: limit)
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, nfds_t(waiting.count), -1)
            if waiting[1].revents != 0 { return nil }
            guard waiting[0].revents != 0 else { continue }
            switch try nextByte(descriptor) {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return line
            case 0x7F, 0x08: line.removeLastCharacter()
            case 0x15: line.removeAll()
            // End of input, Ctrl-D, Ctrl-C (where the terminal makes no signal of it).
            case nil, 0x04, 0x03: throw GantryError(.cancelled, "Cancelled.")
            case let byte?: guard line.append(byte) else { throw tooLong }
            }
        }
    }

    /// Sends the signal again, now to the handlers that were there before, and returns what to throw if these let the
    /// process live.
    private static func interrupted(_ pipe: SignalPipe) -> GantryError {
        let signal = pipe.next()
        pipe.restore()
        if let signal { kill(getpid(), signal) }
        return GantryError(.cancelled, "Cancelled.")
    }

    /// Nil at the end of the input.
    ///
    /// - Parameter source: what is read, for people.
    static func nextByte(_ descriptor: CInt, of source: String = "input") throws(GantryError) -> UInt8? {
        var byte: UInt8 = 0
        do throws(SystemError) {
            return try syscall("read") { read(descriptor, &byte, 1) } == 1 ? byte : nil
        } catch {
            // A terminal that was hung up, or one that this process may not read in the background.
            if error.errno == EIO { return nil }
            throw GantryError(.general, "The \(source) cannot be read.", cause: error.description)
        }
    }

    private static var tooLong: GantryError {
        GantryError(.invalidArgument, "The line is longer than \(limit) bytes. Paste only the code.")
    }
}

/// A terminal that neither echoes nor waits for whole lines, until `restore`.
private struct QuietTerminal {
    private let terminal: FileDescriptor
    private let former: termios

    init(_ terminal: FileDescriptor) throws(GantryError) {
        var state = termios()
        guard tcgetattr(terminal.rawValue, &state) == 0 else {
            throw GantryError(
                .general, "The terminal does not answer.",
                cause: SystemError(errno: errno, during: "tcgetattr").description)
        }
        former = state
        self.terminal = terminal
        // By bytes, since the kernel's own line holds 4095 and drops the rest without a word (termios(3)).
        state.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL | ICANON)
        // TCSAFLUSH forgets what was typed before the question.
        tcsetattr(terminal.rawValue, TCSAFLUSH, &state)
    }

    func restore() {
        var state = former
        // Flush: the rest of a paste must not become a command of the shell.
        tcsetattr(terminal.rawValue, TCSAFLUSH, &state)
    }
}
