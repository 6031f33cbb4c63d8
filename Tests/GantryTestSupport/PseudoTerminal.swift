package import GantryPlatform
package import Glibc

/// A terminal of which the test is the screen and the keyboard.
package final class PseudoTerminal: Sendable {
    /// Where the test reads what is shown and writes what is typed.
    package let screen: FileDescriptor
    /// What the tested code takes for its terminal.
    package let user: FileDescriptor

    package init(columns: UInt16 = 80, rows: UInt16 = 24) throws {
        // posix_openpt and its kin are not in Swift's Glibc module; this is what they do (ioctl_tty(2)).
        let screen = try syscall("open") { open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) }
        self.screen = FileDescriptor(takingOwnership: screen)
        let unlock: UInt = 0x4004_5431  // TIOCSPTLCK
        let getNumber: UInt = 0x8004_5430  // TIOCGPTN
        var number: CUnsignedInt = 0
        try syscall("TIOCSPTLCK") { ioctl(screen, unlock, &number) }
        try syscall("TIOCGPTN") { ioctl(screen, getNumber, &number) }
        let path = "/dev/pts/\(number)"
        user = FileDescriptor(takingOwnership: try syscall("open") { open(path, O_RDWR | O_NOCTTY | O_CLOEXEC) })
        try resize(columns: columns, rows: rows)
    }

    /// As a user who drags the corner of a window: processes in the terminal's foreground get SIGWINCH.
    package func resize(columns: UInt16, rows: UInt16) throws {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try syscall("TIOCSWINSZ") { ioctl(user.rawValue, UInt(TIOCSWINSZ), &size) }
    }

    /// The process group in the foreground, which is the process that a shell has started last.
    package var foreground: pid_t {
        var group: pid_t = 0
        return ioctl(screen.rawValue, UInt(TIOCGPGRP), &group) == 0 ? group : 0
    }

    package func type(_ text: String) { StandardStreams.write(text, to: screen.rawValue) }

    /// All that is shown up to and with `end`; gives up after two seconds without anything new.
    package func read(until end: String) -> String {
        var bytes: [UInt8] = []
        // By bytes: return and line feed are one Character.
        while !bytes.suffix(end.utf8.count).elementsEqual(end.utf8) {
            var waiting = pollfd(fd: screen.rawValue, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 2000) == 1 else { break }
            var byte: UInt8 = 0
            guard Glibc.read(screen.rawValue, &byte, 1) == 1 else { break }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The flags that matter for echo and line mode.
    package var localModes: tcflag_t {
        var state = termios()
        tcgetattr(user.rawValue, &state)
        return state.c_lflag
    }
}

/// A pipe with room for what a test writes.
package final class TestPipe {
    private let readDescriptor: FileDescriptor
    private let writeDescriptor: FileDescriptor

    package init() throws {
        var ends: [CInt] = [-1, -1]
        try syscall("pipe") { pipe(&ends) }
        readDescriptor = FileDescriptor(takingOwnership: ends[0])
        writeDescriptor = FileDescriptor(takingOwnership: ends[1])
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    }

    package var readEnd: CInt { readDescriptor.rawValue }
    package var writeEnd: CInt { writeDescriptor.rawValue }

    package func readAvailable() -> String {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = read(readEnd, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
